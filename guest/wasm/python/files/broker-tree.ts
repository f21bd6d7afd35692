/**
 * A granted directory of the host. It is not stored here: every operation is a request to the broker, which walks the
 * path itself and follows no link.
 *
 * @module
 */
import type { BrokerAnswer, DirectoryEntry, FileStat, FileType } from '../../wasi/broker-client.ts';
import {
  fail,
  type DirectoryItem,
  type NewTime,
  type NodeStat,
  type NodeType,
  type OpenNode,
  type OpenOptions,
  type Tree,
} from './contract.ts';

const MAX_CHUNK_BYTES = 512 * 1024;
const NANOSECONDS_PER_MS = 1_000_000n;

/** Asks the broker and waits for the answer; the guest is blocked until then. */
export type Ask = (op: string, args: Record<string, unknown>, bytes?: Uint8Array) => BrokerAnswer;

export interface BrokerTreeOptions {
  ask: Ask;
  /** The broker's number for the directory. */
  directory: number;
  writable: boolean;
}

export class BrokerTree implements Tree {
  readonly #options: BrokerTreeOptions;

  constructor(options: BrokerTreeOptions) {
    this.#options = options;
  }

  stat(path: readonly string[]): NodeStat {
    const { ask, writable } = this.#options;
    return statOf(ask('statAt', { ...this.#at(path), followLast: false }), writable);
  }

  open(path: readonly string[], options: OpenOptions): OpenNode {
    const { ask, writable } = this.#options;
    const { value } = ask('open', { ...this.#at(path), flags: { ...options, followLast: false } });
    return new BrokerNode({ ask, writable, file: Number(value['file']) });
  }

  makeDirectory(path: readonly string[]): void {
    this.#options.ask('mkdirAt', this.#at(path));
  }

  removeDirectory(path: readonly string[]): void {
    this.#options.ask('rmdirAt', this.#at(path));
  }

  removeFile(path: readonly string[]): void {
    this.#options.ask('unlinkAt', this.#at(path));
  }

  rename(from: readonly string[], to: readonly string[]): void {
    const { ask, directory } = this.#options;
    ask('renameAt', { ...this.#at(from), toDir: directory, toPath: to });
  }

  setModified(path: readonly string[], time: NewTime): void {
    const modified = time === 'now' ? time : String(BigInt(Math.round(time)) * NANOSECONDS_PER_MS);
    this.#options.ask('setTimesAt', { ...this.#at(path), followLast: false, accessed: 'keep', modified });
  }

  #at(path: readonly string[]): Record<string, unknown> {
    return { dir: this.#options.directory, path };
  }
}

class BrokerNode implements OpenNode {
  readonly isStream = false;
  readonly #ask: Ask;
  readonly #file: number;
  readonly #writable: boolean;

  constructor({ ask, file, writable }: { ask: Ask; file: number; writable: boolean }) {
    this.#ask = ask;
    this.#file = file;
    this.#writable = writable;
  }

  stat(): NodeStat {
    return statOf(this.#ask('stat', { file: this.#file }), this.#writable);
  }

  read(into: Uint8Array, position: number): number {
    const length = Math.min(into.length, MAX_CHUNK_BYTES);
    const { bytes } = this.#ask('read', { file: this.#file, offset: position, length });
    if (!bytes || bytes.length > length) return 0;
    into.set(bytes);
    return bytes.length;
  }

  write(bytes: Uint8Array, position: number | undefined): number {
    const chunk = bytes.subarray(0, MAX_CHUNK_BYTES);
    const answer =
      position === undefined
        ? this.#ask('append', { file: this.#file }, chunk)
        : this.#ask('write', { file: this.#file, offset: position }, chunk);
    return Number(answer.value['written']);
  }

  resize(size: number): void {
    this.#ask('setSize', { file: this.#file, size });
  }

  list(): DirectoryItem[] {
    const { value } = this.#ask('readDir', { file: this.#file });
    const entries = (value['entries'] ?? fail('io')) as DirectoryEntry[];
    return entries.map(({ name, type, identity }) => ({
      name,
      type: typeOf(type),
      identity: numberOf(identity),
    }));
  }

  close(): void {
    this.#ask('close', { file: this.#file });
  }
}

function statOf({ value }: BrokerAnswer, writable: boolean): NodeStat {
  const { type, size, modified, identity } = value as unknown as FileStat;
  const modifiedMs = Number(BigInt(modified) / NANOSECONDS_PER_MS);
  return { type: typeOf(type), size, modified: modifiedMs, identity: numberOf(identity), writable };
}

function numberOf(identity: string | undefined): bigint {
  return identity === undefined ? 1n : BigInt(`0x${identity.slice(0, 15)}`);
}

function typeOf(type: FileType): NodeType {
  if (type === 'regular-file') return 'file';
  if (type === 'directory') return 'directory';
  return type === 'symbolic-link' ? 'link' : 'device';
}
