/**
 * A private folder for the files of a delivery. It disappears unless it is kept, whatever goes wrong.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, rmdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { SkillError } from '../errors.ts';
import { fetchedDir, keepFetched, makeFetchedDir } from '../load/fetched.ts';
import { HIDDEN_DRAFT } from '../load/publish.ts';
import { BUNDLE_LIMITS } from '../load/read-bundle.ts';
import { removeTreeSync } from '../load/remove-tree.ts';
import { quote } from '../manifest/quote.ts';
import { readCopy } from './read-copy.ts';

export class Draft implements Disposable {
  readonly #home: string;
  readonly #root: string;
  readonly #id: string;
  /** The folder of the skill. */
  readonly folder: string;

  private constructor(home: string, id: string) {
    this.#home = home;
    this.#id = id;
    this.#root = join(makeFetchedDir(home), `${HIDDEN_DRAFT}${randomBytes(8).toString('hex')}`);
    this.folder = join(this.#root, id);
  }

  static write(home: string, id: string, files: ReadonlyMap<string, Buffer>): Draft {
    const draft = new Draft(home, id);
    try {
      draft.#write(files);
      return draft;
    } catch (error) {
      draft[Symbol.dispose]();
      throw cannotKeep(draft.#root, error);
    }
  }

  #write(files: ReadonlyMap<string, Buffer>): void {
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    const made = new Set([this.folder]);
    for (const [path, bytes] of files) {
      assertInside(path);
      const file = join(this.folder, path);
      const folder = dirname(file);
      if (!made.has(folder)) mkdirSync(folder, { recursive: true, mode: 0o700 });
      made.add(folder);
      // A source that names a path twice, or a file as a folder, fails here.
      writeFileSync(file, bytes, { mode: 0o600, flag: 'wx' });
    }
  }

  /** Removes what was delivered but is not part of the bundle, such as files that its rules ignore. */
  keepOnly(paths: ReadonlySet<string>, delivered: Iterable<string>): void {
    for (const path of delivered) {
      if (paths.has(path)) continue;
      rmSync(join(this.folder, path));
      removeEmpty(this.folder, dirname(path));
    }
  }

  /** Moves it into the store of fetched skills and returns its folder there. */
  keep(key: string): string {
    // A damaged copy would stay in the place of this one.
    readCopy(this.#home, join(fetchedDir(this.#home), key, this.#id));
    return keepFetched(this.#home, this.#root, { id: this.#id, key });
  }

  [Symbol.dispose](): void {
    removeTreeSync(this.#root);
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'its file system is full',
  EDQUOT: 'the quota of its file system is used up',
  EROFS: 'its file system is read-only',
  EACCES: 'this user cannot write there',
};

function cannotKeep(root: string, error: unknown): unknown {
  const { code = '' } = error as NodeJS.ErrnoException;
  const reason = REASONS[code];
  if (error instanceof SkillError || reason === undefined) return error;
  const folder = dirname(root);
  return new SkillError(
    'usage',
    `Cannot keep fetched skills in ${JSON.stringify(folder)}: ${reason} (${code})`,
    {
      fix: 'Make room with `skillcell prune --all`, or set SKILLCELL_HOME to a folder that you can write to.',
      detail: { folder, reason },
      cause: error,
    },
  );
}

function removeEmpty(folder: string, path: string): void {
  for (let at = path; at !== '.'; at = dirname(at)) {
    if (readdirSync(join(folder, at)).length > 0) return;
    rmdirSync(join(folder, at));
  }
}

/** Sources promise this already; a mistake there must not become a write elsewhere. */
function assertInside(path: string): void {
  const isPlain = path.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
  if (isPlain && !path.includes('\0') && Buffer.byteLength(path) <= BUNDLE_LIMITS.pathBytes) return;
  throw new SkillError(
    'manifest_invalid',
    `The delivery has a file with the path ${quote(path)}, outside of a skill`,
    {
      fix: 'Do not use this source. Tell whoever runs it.',
      detail: { path },
    },
  );
}
