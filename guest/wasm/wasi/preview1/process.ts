/**
 * The process that a preview1 command sees: memory, and descriptors for stdio and granted directories.
 *
 * @module
 */
import { BrokerError, type DirectoryEntry, type FileType } from '../broker-client.ts';
import type { Call } from '../call.ts';
import { FileNode } from '../files/node.ts';
import { GuestMemory } from './memory.ts';

/** Bits of `rights`. These are enforced; the others are reported as programs expect them, without effect. */
export const RIGHT_READ: bigint = 1n << 1n;
export const RIGHT_WRITE: bigint = 1n << 6n;
/** For a directory: files in it may be truncated when opened. */
export const RIGHT_TRUNCATE: bigint = 1n << 19n;
/** Rights on an open file: datasync, read, seek, flags, sync, tell, write, advise, …, poll. */
const FILE_RIGHTS = 0x8e001ffn;
const ALL_RIGHTS = 0xfffffffn;
/** Without read, seek, tell, write, advise, allocate and set size, which are for files. */
const DIRECTORY_RIGHTS = ALL_RIGHTS & ~0x4001e6n;
/** Neither seek nor tell: a C library recognizes a stream by this. */
const STREAM_RIGHTS = FILE_RIGHTS & ~((1n << 2n) | (1n << 5n));

export type StandardStream = 'stdin' | 'stdout' | 'stderr';

/** One descriptor. */
export interface Descriptor {
  /** Exactly one of these is set. */
  stream?: StandardStream;
  node?: FileNode;
  preopenName?: string;
  position: number;
  append: boolean;
  /** Bits of `fdflags`. */
  flags: number;
  rights: bigint;
  inheriting: bigint;
  /** For a directory: its entries when reading began. */
  listing?: DirectoryEntry[];
}

const FIRST_FREE = 3;
const FILE_TYPES: readonly FileType[] = [
  ...([
    'unknown',
    'block-device',
    'character-device',
    'directory',
    'regular-file',
    'socket',
    'socket',
  ] as const),
  'symbolic-link',
];

/** The number of a file type; types that preview1 does not have are unknown. */
export function fileTypeNumber(type: FileType): number {
  return Math.max(0, FILE_TYPES.indexOf(type));
}

export interface Preview1Slot {
  current: Preview1Process | undefined;
}

export class Preview1Process {
  readonly call: Call;
  readonly memory: GuestMemory;
  readonly #descriptors = new Map<number, Descriptor>();

  constructor(call: Call, memory: WebAssembly.Memory) {
    this.call = call;
    this.memory = new GuestMemory(memory);
    this.#descriptors.set(0, standardStream('stdin'));
    this.#descriptors.set(1, standardStream('stdout'));
    this.#descriptors.set(2, standardStream('stderr'));
    for (const preopen of call.preopens) {
      const number = this.add(FileNode.forPreopen(call, preopen), ALL_RIGHTS);
      this.descriptor(number).preopenName = preopen.guestPath;
    }
  }

  descriptor(number: number): Descriptor {
    const found = this.#descriptors.get(number);
    if (found === undefined) throw new BrokerError('badf');
    return found;
  }

  /** The file or directory behind a descriptor; fails for a stream. */
  node(number: number): FileNode {
    const { node } = this.descriptor(number);
    if (node === undefined) throw new BrokerError('badf');
    return node;
  }

  directory(number: number): FileNode {
    const { node } = this.descriptor(number);
    if (node === undefined || !node.isDirectory) throw new BrokerError('notdir');
    return node;
  }

  /** Assigns the lowest free number to a file. */
  add(node: FileNode, rights: bigint): number {
    let number = FIRST_FREE;
    while (this.#descriptors.has(number)) number += 1;
    const own = node.isDirectory ? DIRECTORY_RIGHTS : rights & FILE_RIGHTS;
    const inheriting = node.isDirectory ? ALL_RIGHTS : 0n;
    this.#descriptors.set(number, { node, position: 0, append: false, flags: 0, rights: own, inheriting });
    return number;
  }

  close(number: number): void {
    this.descriptor(number).node?.letGo();
    this.#descriptors.delete(number);
  }

  renumber(from: number, to: number): void {
    const moved = this.descriptor(from);
    this.descriptor(to);
    if (from === to) return;
    this.close(to);
    this.#descriptors.delete(from);
    this.#descriptors.set(to, moved);
  }
}

function standardStream(stream: StandardStream): Descriptor {
  const other = stream === 'stdin' ? RIGHT_WRITE : RIGHT_READ;
  const flags = stream === 'stdin' ? 0 : 1;
  return { stream, position: 0, append: false, flags, rights: STREAM_RIGHTS & ~other, inheriting: 0n };
}

/** A system call with its raw arguments. Returns nothing on success, throws BrokerError otherwise. */
export interface SystemCall {
  suspends?: boolean;
  run(process: Preview1Process, args: unknown[]): void | Promise<void>;
}

export type SystemCalls = Record<string, SystemCall>;
