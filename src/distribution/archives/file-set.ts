/**
 * The files that an archive or repository delivers. Every path is checked before its bytes are read, so that joining it to
 * a folder can neither leave the folder nor hit another file of the set.
 *
 * @module
 */
import { quote } from '../../manifest/quote.ts';
import { BUNDLE_LIMITS, nameProblem } from '../../load/read-bundle.ts';
import { SKILL_ARCHIVE, type ArchiveLimits } from './limits.ts';
import { archiveRefused } from './problems.ts';

export interface FileSetOptions {
  limits?: ArchiveLimits | undefined;
  /**
   * What happens to the top folder: `keep` keeps paths as they are, `remove` removes the one folder that holds everything,
   * `find` removes it only if the skill is inside it and not at the root. Default: `keep`.
   */
  top?: 'keep' | 'remove' | 'find' | undefined;
  /** Delivers only what is below this folder, with paths that start there. */
  below?: string | undefined;
}

/** Files that make a folder a skill. */
const SKILL_FILES = ['SKILL.md', 'manifest.yaml'];

export class FileSet {
  readonly limits: ArchiveLimits;
  readonly #what: string;
  readonly #top: NonNullable<FileSetOptions['top']>;
  readonly #below: readonly string[];
  readonly #files = new Map<string, Buffer>();
  /** Spellings of files and folders by the name that a case-insensitive file system would give them. */
  readonly #spellings = new Map<string, { path: string; kind: 'file' | 'folder' }>();
  #topFolder: string | undefined;
  #entries = 0;
  #bytes = 0;

  /** `what` names the archive in messages, such as `The archive "demo.zip"`. */
  constructor(what: string, { limits = SKILL_ARCHIVE, top = 'keep', below }: FileSetOptions = {}) {
    this.#what = what;
    this.limits = limits;
    this.#top = top;
    this.#below = below === undefined ? [] : below.split('/');
  }

  /** Counts an entry, whatever it is. Call it for each before anything else. */
  countEntry(): void {
    this.#entries += 1;
    if (this.#entries > this.limits.entries)
      throw this.refusal(`it has more than ${this.limits.entries} entries`);
  }

  /** The path under which this file is delivered, or undefined if it is not wanted. Throws if the path is unsafe. */
  claim(name: Buffer, size: number): string | undefined {
    const path = this.#place(name, 'file');
    if (path === undefined) return undefined;
    if (this.#files.size >= this.limits.files)
      throw this.refusal(`it has more than ${this.limits.files} files`, path);
    this.#bytes += size;
    if (this.#bytes > this.limits.bytes)
      throw this.refusal(`its files have more than ${this.limits.bytes} bytes`, path);
    this.#files.set(path, Buffer.alloc(0));
    return path;
  }

  /** The bytes of a claimed file. */
  put(path: string, bytes: Buffer): void {
    this.#files.set(path, bytes);
  }

  /** Checks the path of a folder. Folders are not delivered. */
  addFolder(name: Buffer): void {
    this.#place(name, 'folder');
  }

  /** For an entry that is neither a file nor a folder: throws if it is within what is delivered. */
  refuseEntry(name: Buffer, reason: string): void {
    const path = this.#wanted(segmentsOf(name).map((segment) => segment.toString('utf8')));
    if (path !== undefined) throw this.refusal(reason, name.toString('utf8'));
  }

  refusal(reason: string, path?: string, cause?: unknown): Error {
    return archiveRefused(this.#what, reason, path === undefined ? { cause } : { path, cause });
  }

  /** The files by path, sorted. */
  finish(): ReadonlyMap<string, Buffer> {
    if (this.#files.size === 0)
      throw this.refusal(
        this.#below.length === 0
          ? 'it has no files'
          : `it has no folder ${quote(this.#below.join('/'))} with files`,
      );
    const files = [...this.#files].sort(([a], [b]) => (a < b ? -1 : 1));
    const prefix = this.#top === 'find' ? this.#commonTop() : '';
    return new Map(files.map(([path, bytes]) => [path.slice(prefix.length), bytes]));
  }

  /** The one top folder, with its slash, if the skill is inside it. */
  #commonTop(): string {
    if (SKILL_FILES.some((file) => this.#files.has(file))) return '';
    const [first = ''] = this.#files.keys();
    const top = first.slice(0, first.indexOf('/') + 1);
    const isCommon = top !== '' && [...this.#files.keys()].every((path) => path.startsWith(top));
    return isCommon && SKILL_FILES.some((file) => this.#files.has(top + file)) ? top : '';
  }

  #place(name: Buffer, kind: 'file' | 'folder'): string | undefined {
    const segments = segmentsOf(name);
    if (kind === 'folder' && segments.at(-1)?.length === 0) segments.pop();
    const shown = name.toString('utf8');
    if (segments.length === 0 && kind === 'folder') return undefined;
    this.#refuseUnsafe(segments, shown);
    const path = this.#wanted(segments.map((segment) => segment.toString('utf8')));
    if (path === undefined || path === '') {
      if (path === '' && kind === 'file') throw this.refusal('a file stands where a folder has to be', shown);
      return undefined;
    }
    this.#refuseBadNames(segments, shown);
    if (path.split('/').length > BUNDLE_LIMITS.depth + (kind === 'file' ? 1 : 0))
      throw this.refusal(`it is nested deeper than ${BUNDLE_LIMITS.depth} folders`, path);
    this.#refuseCollisions(path, kind);
    return path;
  }

  /** Applies to every entry, even to those that are left out. */
  #refuseUnsafe(segments: readonly Buffer[], shown: string): void {
    if (shown.startsWith('/')) throw this.refusal('it is an absolute path', shown);
    const texts = segments.map((segment) => segment.toString('latin1'));
    if (texts.includes('..')) throw this.refusal('it climbs out of its folder', shown);
    if (texts.some((text) => text === '' || text === '.'))
      throw this.refusal('it is a path with an empty part', shown);
  }

  #refuseBadNames(segments: readonly Buffer[], shown: string): void {
    for (const segment of segments) {
      const problem = nameProblem(segment, shown);
      if (problem !== undefined) throw this.refusal(`it has ${problem}`, shown);
    }
  }

  /** The path that is delivered: without the top folder and the folder above. Undefined if it is elsewhere. */
  #wanted(segments: readonly string[]): string | undefined {
    const [first, ...rest] = segments;
    if (this.#top === 'remove') {
      this.#topFolder ??= first;
      if (first !== this.#topFolder)
        throw this.refusal('it is not in the one folder that holds everything else', segments.join('/'));
    }
    const path = this.#top === 'remove' ? rest : segments;
    const isBelow = this.#below.every((segment, at) => path[at] === segment);
    return isBelow ? path.slice(this.#below.length).join('/') : undefined;
  }

  /** Two names that one file system keeps apart can be the same file on another. */
  #refuseCollisions(path: string, kind: 'file' | 'folder'): void {
    const segments = path.split('/');
    segments.forEach((_, at) => {
      const isLast = at === segments.length - 1;
      this.#refuseCollision(segments.slice(0, at + 1).join('/'), isLast ? kind : 'folder', isLast);
    });
  }

  #refuseCollision(path: string, kind: 'file' | 'folder', isItself: boolean): void {
    const key = foldedName(path);
    const known = this.#spellings.get(key);
    if (!known) this.#spellings.set(key, { path, kind });
    else if (known.path !== path)
      throw this.refusal(`its name is the same as ${quote(known.path)} on some file systems`, path);
    else if (known.kind !== kind) throw this.refusal('it is a file and a folder at once', path);
    else if (kind === 'file' && isItself) throw this.refusal('it is there twice', path);
  }
}

/** A leading `./` means nothing, and archives of `tar -c .` have it everywhere. */
function segmentsOf(name: Buffer): Buffer[] {
  const parts: Buffer[] = [];
  let from = 0;
  for (let at = name.indexOf(0x2f); at !== -1; at = name.indexOf(0x2f, from)) {
    parts.push(name.subarray(from, at));
    from = at + 1;
  }
  parts.push(name.subarray(from));
  return parts[0]?.toString('latin1') === '.' ? parts.slice(1) : parts;
}

/** Upper case first, because some letters have no lower case of their own. */
function foldedName(path: string): string {
  return path.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC');
}
