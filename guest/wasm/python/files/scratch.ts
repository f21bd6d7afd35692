/**
 * In-memory files that exist for one call: /tmp and /dev/shm, with one quota for both.
 *
 * @module
 */
import {
  fail,
  type DirectoryItem,
  type NewTime,
  type NodeStat,
  type OpenNode,
  type OpenOptions,
  type Tree,
} from './contract.ts';

/** What an entry costs of the quota in addition to its content. */
const ENTRY_BYTES = 512;
const FIRST_CAPACITY = 4096;

/** The remaining quota for all files of a call. */
export class Quota {
  #left: number;

  constructor(bytes: number) {
    this.#left = bytes;
  }

  take(bytes: number): void {
    if (bytes > this.#left) fail('nospc');
    this.#left -= bytes;
  }

  giveBack(bytes: number): void {
    this.#left += bytes;
  }
}

class ScratchFile {
  readonly type = 'file';
  readonly identity: bigint;
  readonly #quota: Quota;
  modified: number;
  size = 0;
  #content = new Uint8Array(0);
  #opens = 0;
  #isRemoved = false;

  constructor(identity: bigint, now: number, quota: Quota) {
    this.identity = identity;
    this.modified = now;
    this.#quota = quota;
  }

  read(into: Uint8Array, position: number): number {
    const chunk = this.#content.subarray(position, Math.min(this.size, position + into.length));
    into.set(chunk);
    return chunk.length;
  }

  write(bytes: Uint8Array, position: number): void {
    if (position + bytes.length > this.size) this.resize(position + bytes.length);
    this.#content.set(bytes, position);
  }

  resize(size: number): void {
    if (size > this.size) {
      this.#quota.take(size - this.size);
      this.#reserve(size);
    } else {
      this.#quota.giveBack(this.size - size);
      this.#release(size);
    }
    this.size = size;
  }

  opened(): void {
    this.#opens++;
  }

  closed(): void {
    this.#opens--;
    this.#settle();
  }

  removed(): void {
    this.#isRemoved = true;
    this.#settle();
  }

  /** A file without names and readers no longer counts. */
  #settle(): void {
    if (this.#isRemoved && this.#opens === 0) this.resize(0);
  }

  /** A file that no longer counts must not be kept either. */
  #release(size: number): void {
    if (size < this.#content.length / 2) this.#content = this.#content.slice(0, size);
    else this.#content.fill(0, size, this.size);
  }

  #reserve(size: number): void {
    if (size <= this.#content.length) return;
    const larger = new Uint8Array(Math.max(FIRST_CAPACITY, size, Math.floor(this.#content.length * 1.5)));
    larger.set(this.#content.subarray(0, this.size));
    this.#content = larger;
  }
}

interface ScratchFolder {
  type: 'directory';
  identity: bigint;
  modified: number;
  entries: Map<string, ScratchFile | ScratchFolder>;
}

export interface ScratchOptions {
  quota: Quota;
  now: () => number;
}

export class ScratchTree implements Tree {
  readonly #options: ScratchOptions;
  #identities = 1n;
  readonly #root: ScratchFolder;

  constructor(options: ScratchOptions) {
    this.#options = options;
    this.#root = this.#newRoot();
  }

  get isEmpty(): boolean {
    return this.#root.entries.size === 0;
  }

  stat(path: readonly string[]): NodeStat {
    return statOf(this.#find(path));
  }

  open(path: readonly string[], options: OpenOptions): OpenNode {
    const found = this.#lookUp(path);
    if (found && options.create && options.exclusive) fail('exist');
    if (!found && !options.create) fail('noent');
    const entry = found ?? this.#create(path);
    if (entry.type === 'directory') {
      if (options.write || options.truncate) fail('isdir');
      return new OpenScratchFolder(entry);
    }
    if (options.directory) fail('notdir');
    if (options.truncate) entry.resize(0);
    return new OpenScratchFile(entry, this.#options.now);
  }

  makeDirectory(path: readonly string[]): void {
    if (this.#lookUp(path)) fail('exist');
    const { folder, name } = this.#parent(path);
    this.#options.quota.take(ENTRY_BYTES);
    folder.entries.set(name, this.#newFolder());
  }

  removeDirectory(path: readonly string[]): void {
    const entry = this.#find(path);
    if (entry.type !== 'directory') fail('notdir');
    if (entry.entries.size > 0) fail('notempty');
    this.#remove(path);
  }

  removeFile(path: readonly string[]): void {
    const entry = this.#find(path);
    if (entry.type === 'directory') fail('isdir');
    this.#remove(path);
    entry.removed();
  }

  rename(from: readonly string[], to: readonly string[]): void {
    const entry = this.#find(from);
    const target = this.#lookUp(to);
    if (entry === target) return;
    if (to.length > from.length && from.every((segment, at) => segment === to[at])) fail('inval');
    if (target?.type === 'directory') {
      if (entry.type !== 'directory') fail('isdir');
      this.removeDirectory(to);
    } else if (target) {
      if (entry.type === 'directory') fail('notdir');
      this.removeFile(to);
    }
    const source = this.#parent(from);
    const { folder, name } = this.#parent(to);
    source.folder.entries.delete(source.name);
    folder.entries.set(name, entry);
  }

  setModified(path: readonly string[], time: NewTime): void {
    this.#find(path).modified = time === 'now' ? this.#options.now() : time;
  }

  #create(path: readonly string[]): ScratchFile {
    const { folder, name } = this.#parent(path);
    const { quota, now } = this.#options;
    quota.take(ENTRY_BYTES);
    const file = new ScratchFile(this.#identities++, now(), quota);
    folder.entries.set(name, file);
    return file;
  }

  #remove(path: readonly string[]): void {
    const { folder, name } = this.#parent(path);
    folder.entries.delete(name);
    this.#options.quota.giveBack(ENTRY_BYTES);
  }

  #find(path: readonly string[]): ScratchFile | ScratchFolder {
    return this.#lookUp(path) ?? fail('noent');
  }

  #lookUp(path: readonly string[]): ScratchFile | ScratchFolder | undefined {
    if (path.length === 0) return this.#root;
    const { folder, name } = this.#parent(path);
    return folder.entries.get(name);
  }

  #parent(path: readonly string[]): { folder: ScratchFolder; name: string } {
    const name = path.at(-1) ?? fail('busy');
    let folder = this.#root;
    for (const segment of path.slice(0, -1)) {
      const next = folder.entries.get(segment) ?? fail('noent');
      if (next.type !== 'directory') fail('notdir');
      folder = next;
    }
    return { folder, name };
  }

  /** The clock is read only on demand, because cells record whether a skill has read it. */
  #newRoot(): ScratchFolder {
    let modified: number | undefined;
    const { now } = this.#options;
    return Object.defineProperty(this.#newFolder(0), 'modified', {
      get: () => (modified ??= now()),
      set: (time: number) => {
        modified = time;
      },
    });
  }

  #newFolder(modified = this.#options.now()): ScratchFolder {
    return { type: 'directory', identity: this.#identities++, modified, entries: new Map() };
  }
}

function statOf(entry: ScratchFile | ScratchFolder): NodeStat {
  const { type, identity, modified } = entry;
  return { type, identity, modified, size: type === 'file' ? entry.size : 0, writable: true };
}

class OpenScratchFile implements OpenNode {
  readonly isStream = false;
  readonly #file: ScratchFile;
  readonly #now: () => number;

  constructor(file: ScratchFile, now: () => number) {
    this.#file = file;
    this.#now = now;
    file.opened();
  }

  stat(): NodeStat {
    return statOf(this.#file);
  }

  read(into: Uint8Array, position: number): number {
    return this.#file.read(into, position);
  }

  write(bytes: Uint8Array, position: number = this.#file.size): number {
    this.#file.write(bytes, position);
    this.#file.modified = this.#now();
    return bytes.length;
  }

  resize(size: number): void {
    this.#file.resize(size);
    this.#file.modified = this.#now();
  }

  list(): DirectoryItem[] {
    return fail('notdir');
  }

  close(): void {
    this.#file.closed();
  }
}

class OpenScratchFolder implements OpenNode {
  readonly isStream = false;
  readonly #folder: ScratchFolder;

  constructor(folder: ScratchFolder) {
    this.#folder = folder;
  }

  stat(): NodeStat {
    return statOf(this.#folder);
  }

  read(): number {
    return fail('isdir');
  }

  write(): number {
    return fail('badf');
  }

  resize(): void {
    fail('isdir');
  }

  list(): DirectoryItem[] {
    return [...this.#folder.entries].map(([name, { type, identity }]) => ({ name, type, identity }));
  }

  close(): void {
    // There is nothing to release.
  }
}
