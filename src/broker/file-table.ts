/**
 * The open files of one call, by number. A file is a descriptor of the host and the root it was reached from; the
 * guest only ever holds the number.
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
/** Linux O_PATH: a handle on the name only. Node does not export it. */
export const O_PATH = 0o10000000;
const { O_DIRECTORY, O_NOFOLLOW } = constants;
const MAX_SEGMENTS = 128;
const MAX_SEGMENT_BYTES = 255;

export interface RootOptions {
  /**
   * A real path: what lies on the way is no link, and if it became one since, it is not followed. Absent for a folder
   * that is only there to hold other roots.
   */
  host?: string;
  guest: string;
  writable: boolean;
  /** How much a call may add to what lies below. */
  maxBytes?: number;
}

export interface Root {
  guest: string;
  writable: boolean;
  /** Bytes that may still be written; infinite without a quota. */
  room: number;
  /** A folder that holds other roots and nothing else. */
  isMadeUp: boolean;
}

export interface OpenFile {
  fd: number;
  root: Root;
  /** Path as the guest sees it, for records only. */
  shown: string;
  /** Whether the descriptor itself was opened for writing. */
  writable: boolean;
}

/** A place in a directory that is held open: nothing on the way to it can be swapped any more. */
export interface Place {
  /** Path for the kernel. Its last segment may still be a link, unless it is the directory itself. */
  path: string;
  /** Path as the guest sees it. */
  shown: string;
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

  /** Granted directories come first, so their numbers are known before the call starts. Opened when first used. */
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
    this.noteUse(`${file.writable ? 'write' : 'read'} ${file.shown}`);
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

  /** Refuses with `rofs` and writes the denial down. */
  demandWritable({ root, shown }: Pick<OpenFile, 'root' | 'shown'>): void {
    if (root.writable) return;
    this.noteDenial(`write ${shown}`, 'readable only');
    throw new BrokerRefusal('rofs', 'readable only');
  }

  /** Calls `act` with a place whose directory is a descriptor of ours. */
  at<T>(id: unknown, path: unknown, act: (place: Place) => T): T {
    const { dir, segments } = this.#inward(this.get(id), checkSegments(path));
    const { root } = dir;
    const last = segments.pop();
    if (last === undefined) {
      return act({ path: `/proc/self/fd/${dir.fd}`, shown: dir.shown, root, isDirectoryItself: true });
    }
    const parent = walk(dir.fd, segments);
    try {
      const shown = [inFront(dir), ...segments, last].join('/');
      return act({ path: `/proc/self/fd/${parent}/${last}`, shown, root, isDirectoryItself: false });
    } finally {
      if (parent !== dir.fd) closeSync(parent);
    }
  }

  /** Whether a granted directory lies there or below: its way stays as it is. */
  leadsToRoot(shown: string): boolean {
    return this.#roots.some(({ guest }) => guest === shown || guest.startsWith(`${shown}/`));
  }

  /** Granted paths right in a folder that is there to hold them, by their names. */
  heldBy({ root }: OpenFile): Map<string, OpenFile> {
    const held = new Map<string, OpenFile>();
    if (!root.isMadeUp) return held;
    for (const [id, { guest }] of this.#roots.entries())
      if (guest !== root.guest && parentOf(guest) === root.guest)
        held.set(guest.slice(guest.lastIndexOf('/') + 1), this.get(id));
    return held;
  }

  noteUse(asked: string): void {
    this.#records.note('used', event(asked, 'granted'));
  }

  noteDenial(asked: string, declared: string): void {
    this.#records.note('denied', event(asked, declared));
  }

  /** Where one granted directory lies in another, the rules of the inner one hold, as with a mount. */
  #inward(dir: OpenFile, segments: string[]): { dir: OpenFile; segments: string[] } {
    for (let length = segments.length; length > 0; length--) {
      const shown = [inFront(dir), ...segments.slice(0, length)].join('/');
      const inner = this.#roots.findIndex(({ guest }) => guest === shown);
      if (inner >= 0) return { dir: this.get(inner), segments: segments.slice(length) };
    }
    return { dir, segments };
  }

  #openRoot(id: number): OpenFile | undefined {
    const options = this.#roots[id];
    if (!options) return undefined;
    const { host, guest, writable, maxBytes = Number.POSITIVE_INFINITY } = options;
    const root = { guest, writable, room: maxBytes, isMadeUp: host === undefined };
    const fd = host === undefined ? openNothing() : openReal(host);
    const file = { fd, root, shown: guest, writable: false };
    this.#files.set(id, file);
    return file;
  }
}

function event(asked: string, declared: string): CapabilityEvent {
  return { capability: 'filesystem', asked, declared };
}

/** What stands before the first slash of a path below. */
function inFront({ shown }: OpenFile): string {
  return shown === '/' ? '' : shown;
}

/** A folder that is empty and stays so: one that was removed takes no new names. */
function openNothing(): number {
  const folder = mkdtempSync(join(tmpdir(), 'skillcell-'));
  try {
    return openSync(folder, O_PATH | O_DIRECTORY | O_NOFOLLOW);
  } finally {
    rmdirSync(folder);
  }
}

/** A handle on a path that has to be real all the way: a directory that became a link meanwhile is refused. */
function openReal(path: string): number {
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

/** For a folder of our own, which may well lie behind a link. */
export function realRoot(root: RootOptions & { host: string }): RootOptions {
  return { ...root, host: realpathSync(root.host) };
}

/** Opens one directory after the other; a link in the way is refused by the kernel itself. */
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
    // Half a character would become another name on its way to the kernel.
    if (!isName || !segment.isWellFormed()) throw new BrokerRefusal('inval', 'bad path segment');
    if (Buffer.byteLength(segment) > MAX_SEGMENT_BYTES)
      throw new BrokerRefusal('nametoolong', 'name too long');
    return segment;
  });
}
