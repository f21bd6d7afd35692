/**
 * The files of an upload: a private draft that disappears unless it is kept, and the record that makes it an upload.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { HIDDEN_DRAFT, publishSync } from '../load/publish.ts';
import { realOrGiven } from '../load/registries.ts';
import { removeTreeSync } from '../load/remove-tree.ts';
import { isNameSegment } from '../manifest/names.ts';
import { SkillError } from '../errors.ts';

const PRIVATE = { recursive: true, mode: 0o700 } as const;

export class UploadDraft implements Disposable {
  readonly #parent: string;
  readonly #root: string;
  /** The folder of the skill, under a name that says nothing, because nobody has read its own yet. */
  readonly folder: string;

  private constructor(parent: string) {
    mkdirSync(parent, PRIVATE);
    this.#parent = realOrGiven(parent);
    this.#root = join(this.#parent, `${HIDDEN_DRAFT}${randomBytes(8).toString('hex')}`);
    this.folder = join(this.#root, 'upload');
  }

  /** `files` come from an archive reader, which refuses every path that leaves the folder. */
  static write(parent: string, files: ReadonlyMap<string, Buffer>): UploadDraft {
    const draft = new UploadDraft(parent);
    try {
      mkdirSync(draft.folder, PRIVATE);
      for (const [path, bytes] of files) {
        const file = join(draft.folder, path);
        mkdirSync(dirname(file), PRIVATE);
        writeFileSync(file, bytes, { mode: 0o600, flag: 'wx' });
      }
      return draft;
    } catch (error) {
      draft[Symbol.dispose]();
      throw error;
    }
  }

  /** Removes what was delivered but is not part of the bundle. */
  keepOnly(paths: ReadonlySet<string>, delivered: Iterable<string>): void {
    for (const path of delivered) {
      if (paths.has(path)) continue;
      rmSync(join(this.folder, path));
      for (
        let at = dirname(path);
        at !== '.' && readdirSync(join(this.folder, at)).length === 0;
        at = dirname(at)
      )
        rmdirSync(join(this.folder, at));
    }
  }

  /** Moves it into place under its digest. The same bytes may already be there under another lock or signature. */
  keep(key: string, name: string): void {
    assertName(name);
    const folder = join(this.#root, 'named', name);
    mkdirSync(dirname(folder), PRIVATE);
    renameSync(this.folder, folder);
    const target = join(this.#parent, key);
    if (existsSync(target)) removeTreeSync(target);
    renameSync(join(this.#root, 'named'), target);
  }

  [Symbol.dispose](): void {
    removeTreeSync(this.#root);
  }
}

/** Replaces the record as a whole, so that an interrupted upload changes nothing. */
export function writeRecord(folder: string, file: string, record: object): void {
  const text = `${JSON.stringify(record, null, 2)}\n`;
  publishSync(join(folder, file), (draft) => writeFileSync(draft, text, { mode: 0o600, flag: 'wx' }), {
    hideIn: folder,
  });
}

/** The name becomes a path. */
function assertName(name: string): void {
  const segments = name.split('/');
  if (segments.length <= 2 && segments.every(isNameSegment)) return;
  throw new SkillError('manifest_invalid', 'The name of the skill is not an id such as "category/name"', {
    fix: 'Give the skill another name.',
  });
}
