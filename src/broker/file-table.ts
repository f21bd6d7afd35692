/**
 * The open files of one call, by number. A file is a descriptor of the host and the root it was reached from; the
 * guest only ever holds the number.
 *
 * @module
 */
import { closeSync, constants, openSync } from 'node:fs';
import { BrokerRefusal } from '../cell/contract.ts';
import type { CapabilityEvent } from '../outcome.ts';

const MAX_OPEN_FILES = 256;
/** Linux O_PATH: a handle on the name only. Node does not export it. */
const O_PATH = 0o10000000;
const MAX_SEGMENTS = 128;
const MAX_SEGMENT_BYTES = 255;

export interface RootOptions {
  host: string;
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
}

export interface OpenFile {
  fd: number;
  root: Root;
  /** Path as the guest sees it, for records only. */
  shown: string;
  writable: boolean;
}

interface Records {
  used: CapabilityEvent[];
  denied: CapabilityEvent[];
}

export class FileTable {
  readonly #files = new Map<number, OpenFile>();
  readonly #records: Records;
  #next = 0;

  constructor(records: Records) {
    this.#records = records;
  }

  /** Granted directories come first, so their numbers are known before the call starts. */
  addRoot({ host, guest, writable, maxBytes }: RootOptions): void {
    const fd = openSync(host, O_PATH | constants.O_NOFOLLOW);
    const root = { guest, writable, room: maxBytes ?? Number.POSITIVE_INFINITY };
    this.#files.set(this.#next++, { fd, root, shown: guest, writable });
  }

  add(file: OpenFile): number {
    if (this.#files.size >= MAX_OPEN_FILES) {
      closeSync(file.fd);
      throw new BrokerRefusal('mfile', 'too many open files');
    }
    const id = this.#next++;
    this.#files.set(id, file);
    this.#note(this.#records.used, `${file.writable ? 'write' : 'read'} ${file.shown}`, 'granted');
    return id;
  }

  get(id: unknown): OpenFile {
    const file = typeof id === 'number' ? this.#files.get(id) : undefined;
    if (!file) throw new BrokerRefusal('badf', 'no such file');
    return file;
  }

  closeFile(id: unknown): void {
    const file = this.get(id);
    this.#files.delete(Number(id));
    closeSync(file.fd);
  }

  close(): void {
    for (const { fd } of this.#files.values()) closeSync(fd);
    this.#files.clear();
  }

  /** The same file again with other flags: through /proc, because a handle from O_PATH cannot be read or written. */
  reopen(file: OpenFile, flags: number): number {
    return openSync(`/proc/self/fd/${file.fd}`, flags);
  }

  /** Refuses with `rofs` and writes the denial down. */
  demandWritable(file: OpenFile, what: string): void {
    if (file.root.writable) return;
    this.#note(this.#records.denied, `write ${what}`, 'readable only');
    throw new BrokerRefusal('rofs', 'readable only');
  }

  /**
   * Calls `act` with a path whose parent is a descriptor of ours, so that nothing can be swapped underneath; the last
   * segment is not followed unless `act` itself follows it.
   */
  at<T>(dir: OpenFile, path: unknown, act: (place: string, shown: string) => T): T {
    const segments = checkSegments(path);
    const last = segments.pop();
    if (last === undefined) return act(`/proc/self/fd/${dir.fd}`, dir.shown);
    const parent = walk(dir.fd, segments);
    try {
      return act(`/proc/self/fd/${parent}/${last}`, [dir.shown, ...segments, last].join('/'));
    } finally {
      if (parent !== dir.fd) closeSync(parent);
    }
  }

  #note(list: CapabilityEvent[], asked: string, declared: string): void {
    const isKnown = list.some((event) => event.asked === asked);
    if (!isKnown && list.length < 64)
      list.push({ capability: 'filesystem', asked: asked.slice(0, 300), declared });
  }
}

/** Opens one directory after the other; a link in the way is refused by the kernel itself. */
function walk(start: number, segments: string[]): number {
  let current = start;
  for (const segment of segments) {
    const flags = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;
    const next = openSync(`/proc/self/fd/${current}/${segment}`, flags);
    if (current !== start) closeSync(current);
    current = next;
  }
  return current;
}

function checkSegments(path: unknown): string[] {
  if (!Array.isArray(path) || path.length > MAX_SEGMENTS) throw new BrokerRefusal('inval', 'bad path');
  return path.map((segment: unknown) => {
    if (
      typeof segment !== 'string' ||
      segment === '' ||
      segment === '.' ||
      segment === '..' ||
      /[/\0]/.test(segment)
    ) {
      throw new BrokerRefusal('inval', 'bad path segment');
    }
    if (Buffer.byteLength(segment) > MAX_SEGMENT_BYTES)
      throw new BrokerRefusal('nametoolong', 'name too long');
    return segment;
  });
}
