/**
 * Skills in folders and archives on this machine.
 *
 * @module
 */
import { lstatSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { SkillError } from '../../errors.ts';
import { quote, shortLine } from '../../manifest/quote.ts';
import { sha256 } from '../../load/digest.ts';
import { LOCK_FILE, readBundle, SIGNATURE_FILE } from '../../load/read-bundle.ts';
import { capped, collect, fileChunks } from '../archives/chunks.ts';
import { SKILL_ARCHIVE } from '../archives/limits.ts';
import { archiveRefused } from '../archives/problems.ts';
import { readArchive } from '../archives/read-archive.ts';
import type { Delivery, PinnedSource } from '../contract.ts';
import { parseFile } from '../references.ts';
import { notThere } from './problems.ts';
import { UnversionedSource, type FoundFiles } from './unversioned.ts';

export interface FileSourceOptions {
  /** What relative paths are relative to: the project. */
  folder: string;
}

export class FileSource extends UnversionedSource {
  readonly kind = 'file';
  readonly #folder: string;

  constructor({ folder }: FileSourceOptions) {
    super();
    this.#folder = folder;
  }

  protected sourceOf(reference: string): string {
    return parseFile(reference).source;
  }

  async fetch(reference: string): Promise<Delivery> {
    const { source, path } = parseFile(reference);
    const { files, revision } = await this.#read(path);
    return { pinned: { kind: this.kind, source, revision }, files, attachments: [] };
  }

  async currentRevision({ source }: PinnedSource): Promise<string> {
    return (await this.#read(parseFile(source).path)).revision;
  }

  async #read(path: string): Promise<FoundFiles> {
    const place = resolve(this.#folder, path);
    const stat = lstatSync(place, { throwIfNoEntry: false });
    if (!stat)
      throw notThere(
        `The source ${quote(`file:${path}`)}`,
        'there is no such file or folder',
        'Check the path.',
      );
    if (stat.isDirectory()) return readFolder(place);
    if (stat.isFile()) return readPacked(place);
    throw new SkillError(
      'manifest_invalid',
      `The source ${quote(`file:${path}`)} is neither a folder nor a file`,
      {
        fix: 'Name the folder or the archive itself: links are not followed.',
      },
    );
  }
}

/** The same rules as for any other bundle, so that the digest is the one that `skillcell lock` writes. */
function readFolder(folder: string): FoundFiles {
  const { contents, digest, lock, signature } = readBundle(folder);
  const files = new Map(contents);
  if (lock) files.set(LOCK_FILE, lock);
  if (signature) files.set(SIGNATURE_FILE, signature);
  return { files, revision: digest };
}

async function readPacked(file: string): Promise<FoundFiles> {
  const what = `The archive ${quote(basename(file))}`;
  const most = SKILL_ARCHIVE.packedBytes;
  const over = (): Error => archiveRefused(what, `it has more than ${most} bytes`);
  const bytes = await collect(capped(fileChunks(file), most, over)).catch((cause: unknown) => {
    throw cause instanceof SkillError ? cause : unreadable(what, cause);
  });
  const { files } = await readArchive(bytes, { what, top: 'find' });
  return { files, revision: `sha256:${sha256(bytes)}` };
}

function unreadable(what: string, cause: unknown): SkillError {
  return archiveRefused(what, `it cannot be read (${shortLine((cause as Error).message)})`, { cause });
}
