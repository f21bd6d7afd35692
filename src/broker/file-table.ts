/**
 * The open files of one call, by number. A file is a descriptor of the host and the root it was reached from; the guest only
 * knows the number.
 *
 * @module
 */
import { closeSync, constants, mkdtempSync, openSync, realpathSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BrokerRefusal } from '../cell/contract.ts';
import type { CapabilityEvent } from '../outcome.ts';
import { parentOf } from '../policy/guest-folders.ts';
import type { Records } from './records.ts';

const MAX_OPEN_FILES = 256;
/** Linux O_PATH, which Node does not export: a handle on the name only. */
export const O_PATH = 0o10000000;
const { O_DIRECTORY, O_NOFOLLOW } = constants;
const MAX_SEGMENTS = 128;
const MAX_SEGMENT_BYTES = 255;

export interface RootOptions {
  /**
   * A path without links; if a part of it becomes a link later, it is not followed. Absent for a folder that only contains
   * other roots.
   */
  host?: string;
  guest: string;
  writable: boolean;
  /** Bytes that a call may add below it. */
  maxBytes?: number;
}

export interface Root {
  guest: string;
  writable: boolean;
  /** Bytes that may still be written; infinite without a quota. */
  room: number;
  /** A folder that contains only other roots. */
  isSynthetic: boolean;
}

export interface OpenFile {
  fd: number;
  root: Root;
  /** Only for records. */
  guestPath: string;
  /** Whether the descriptor was opened for writing. */
  writable: boolean;
}

/** A place in an open directory, so that no part of the path can be replaced. */
export interface Place {
  /** Path for the kernel. Its last segment may still be a link, unless it is the directory itself. */
  path: string;
  guestPath: string;
  root: Root;
  isDirectoryItself: boolean;
}

export class FileTable {
  readonly #roots: RootOptions[] = [];
  readonly #files = new Map<number, OpenFile>();
  readonly #records: Records;
  #next = 0;

  constructor(records: Records) {
    this.#records = records;
  }

  /** Granted directories come first, so that their numbers are known before the call starts. They are opened on first use. */
  addRoot(root: RootOptions): void {
    this.#roots.push(root);
    this.#next++;
  }

  add(file: OpenFile): number {
    if (this.#files.size >= MAX_OPEN_FILES) {
      closeSync(file.fd);
      throw new BrokerRefusal('mfile', 'too many open files');
    }
    const id = this.#next++;
    this.#files.set(id, file);
    this.recordUse(`${file.writable ? 'write' : 'read'} ${file.guestPath}`);
    return id;
  }

  get(id: unknown): OpenFile {
    const file = typeof id === 'number' ? (this.#files.get(id) ?? this.#openRoot(id)) : undefined;
    if (!file) throw new BrokerRefusal('badf', 'no such file');
    return file;
  }

  closeFile(id: unknown): void {
    const file = this.get(id);
    // A granted directory belongs to the call.
    if (Number(id) < this.#roots.length) throw new BrokerRefusal('badf', 'not opened by the guest');
    this.#files.delete(Number(id));
    closeSync(file.fd);
  }

  close(): void {
    for (const { fd } of this.#files.values()) closeSync(fd);
    this.#files.clear();
    this.#roots.length = 0;
  }

  /** Records a denial and refuses with `rofs` unless the root is writable. */
  assertWritable({ root, guestPath }: Pick<OpenFile, 'root' | 'guestPath'>): void {
    if (root.writable) return;
    this.recordDenial(`write ${guestPath}`, 'readable only');
    throw new BrokerRefusal('rofs', 'readable only');
  }

  /** Calls `act` with a place whose directory is an open descriptor. */
  at<T>(id: unknown, path: unknown, act: (place: Place) => T): T {
    const { dir, segments } = this.#inward(this.get(id), checkSegments(path));
    const { root } = dir;
    const last = segments.pop();
    if (last === undefined) {
      return act({
        path: `/proc/self/fd/${dir.fd}`,
        guestPath: dir.guestPath,
        root,
        isDirectoryItself: true,
      });
    }
    const parent = walk(dir.fd, segments);
    try {
      const guestPath = [prefixOf(dir), ...segments, last].join('/');
      return act({ path: `/proc/self/fd/${parent}/${last}`, guestPath, root, isDirectoryItself: false });
    } finally {
      if (parent !== dir.fd) closeSync(parent);
    }
  }

  /** True if the path is, or contains, a granted directory, whose path must not change. */
  containsRoot(guestPath: string): boolean {
    return this.#roots.some(({ guest }) => guest === guestPath || guest.startsWith(`${guestPath}/`));
  }

  /** The roots directly inside a folder that only contains roots, by their names. */
  rootsIn({ root }: OpenFile): Map<string, OpenFile> {
    const found = new Map<string, OpenFile>();
    if (!root.isSynthetic) return found;
    for (const [id, { guest }] of this.#roots.entries())
      if (guest !== root.guest && parentOf(guest) === root.guest)
        found.set(guest.slice(guest.lastIndexOf('/') + 1), this.get(id));
    return found;
  }

  recordUse(asked: string): void {
    this.#records.note('used', event(asked, 'granted'));
  }

  recordDenial(asked: string, declared: string): void {
    this.#records.note('denied', event(asked, declared));
  }

  /** For nested granted directories, the rules of the inner one apply, as with a mount. */
  #inward(dir: OpenFile, segments: string[]): { dir: OpenFile; segments: string[] } {
    for (let length = segments.length; length > 0; length--) {
      const guestPath = [prefixOf(dir), ...segments.slice(0, length)].join('/');
      const inner = this.#roots.findIndex(({ guest }) => guest === guestPath);
      if (inner >= 0) return { dir: this.get(inner), segments: segments.slice(length) };
    }
    return { dir, segments };
  }

  #openRoot(id: number): OpenFile | undefined {
    const options = this.#roots[id];
    if (!options) return undefined;
    const { host, guest, writable, maxBytes = Number.POSITIVE_INFINITY } = options;
    const root = { guest, writable, room: maxBytes, isSynthetic: host === undefined };
    const fd = host === undefined ? openEmptyFolder() : openRealPath(host);
    const file = { fd, root, guestPath: guest, writable: false };
    this.#files.set(id, file);
    return file;
  }
}

function event(asked: string, declared: string): CapabilityEvent {
  return { capability: 'filesystem', asked, declared };
}

/** The path as a prefix for `/name`; empty for `/`. */
function prefixOf({ guestPath }: OpenFile): string {
  return guestPath === '/' ? '' : guestPath;
}

/** A removed folder, which stays empty because nothing can be created in it. */
function openEmptyFolder(): number {
  const folder = mkdtempSync(join(tmpdir(), 'skillcell-'));
  try {
    return openSync(folder, O_PATH | O_DIRECTORY | O_NOFOLLOW);
  } finally {
    rmdirSync(folder);
  }
}

/** A handle on a path without links; refuses a directory that has become a link. */
function openRealPath(path: string): number {
  const segments = path.split('/').filter(Boolean);
  const last = segments.pop();
  const top = openSync('/', O_PATH | O_DIRECTORY);
  if (last === undefined) return top;
  let parent = top;
  try {
    parent = walk(top, segments);
    return openSync(`/proc/self/fd/${parent}/${last}`, O_PATH | O_NOFOLLOW);
  } finally {
    closeSync(top);
    if (parent !== top) closeSync(parent);
  }
}

/** For our own folders, which may be behind a link. */
export function realRoot(root: RootOptions & { host: string }): RootOptions {
  return { ...root, host: realpathSync(root.host) };
}

/** Opens one directory after the other; the kernel refuses links. */
function walk(start: number, segments: string[]): number {
  let current = start;
  for (const segment of segments) {
    try {
      const next = openSync(`/proc/self/fd/${current}/${segment}`, O_PATH | O_DIRECTORY | O_NOFOLLOW);
      if (current !== start) closeSync(current);
      current = next;
    } catch (error) {
      if (current !== start) closeSync(current);
      throw error;
    }
  }
  return current;
}

function checkSegments(path: unknown): string[] {
  if (!Array.isArray(path) || path.length > MAX_SEGMENTS) throw new BrokerRefusal('inval', 'bad path');
  return path.map((segment: unknown) => {
    const isName =
      typeof segment === 'string' && !['', '.', '..'].includes(segment) && !/[/\0]/.test(segment);
    // A lone surrogate would become another name on its way to the kernel.
    if (!isName || !segment.isWellFormed()) throw new BrokerRefusal('inval', 'bad path segment');
    if (Buffer.byteLength(segment) > MAX_SEGMENT_BYTES)
      throw new BrokerRefusal('nametoolong', 'name too long');
    return segment;
  });
}
