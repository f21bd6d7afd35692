/**
 * What a part of the virtual tree is. A failure is a `BrokerError` with the words of POSIX, as the broker's own are.
 *
 * @module
 */
import { BrokerError } from '../../wasi/broker-client.ts';

export type NodeType = 'file' | 'directory' | 'device' | 'link';

export interface NodeStat {
  type: NodeType;
  size: number;
  /** Milliseconds since 1970. */
  modified: number;
  /** The same number for the same file of a tree. */
  identity: bigint;
  writable: boolean;
}

export interface DirectoryItem {
  name: string;
  type: NodeType;
  identity: bigint;
}

export interface OpenOptions {
  read: boolean;
  write: boolean;
  create: boolean;
  exclusive: boolean;
  truncate: boolean;
  directory: boolean;
}

/** An open file. The position is kept by who holds it. */
export interface OpenNode {
  stat(): NodeStat;
  read(into: Uint8Array, position: number): number;
  /** `position` undefined: at the end. */
  write(bytes: Uint8Array, position: number | undefined): number;
  resize(size: number): void;
  /** Of a directory, without `.` and `..`. */
  list(): DirectoryItem[];
  close(): void;
  /** True for what has no positions: devices, the channel, sockets. */
  readonly isStream: boolean;
}

/** Modified time to set: `now` or milliseconds since 1970. */
export type NewTime = number | 'now';

/** One mounted tree. Paths are segments below its top. */
export interface Tree {
  stat(path: readonly string[]): NodeStat;
  open(path: readonly string[], options: OpenOptions): OpenNode;
  makeDirectory(path: readonly string[]): void;
  removeDirectory(path: readonly string[]): void;
  removeFile(path: readonly string[]): void;
  rename(from: readonly string[], to: readonly string[]): void;
  setModified(path: readonly string[], time: NewTime): void;
}

export function fail(code: string): never {
  throw new BrokerError(code);
}
