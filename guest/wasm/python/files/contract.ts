/**
 * Interface of a part of the virtual tree. A failure is a `BrokerError` with a POSIX name, as in the broker.
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
  /** Identifies the file within its tree. */
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

export const READ_ONLY: OpenOptions = {
  read: true,
  write: false,
  create: false,
  exclusive: false,
  truncate: false,
  directory: false,
};

/** An open file. The caller keeps the position. */
export interface OpenNode {
  stat(): NodeStat;
  read(into: Uint8Array, position: number): number;
  /** Appends if `position` is undefined. */
  write(bytes: Uint8Array, position: number | undefined): number;
  resize(size: number): void;
  /** For a directory, without `.` and `..`. */
  list(): DirectoryItem[];
  close(): void;
  /** True for files without positions: devices, the channel, sockets. */
  readonly isStream: boolean;
}

/** What devices, the channel and standard streams have in common: bytes without positions, sizes or entries. */
export abstract class StreamNode implements OpenNode {
  readonly isStream = true;

  abstract read(into: Uint8Array): number;
  abstract write(bytes: Uint8Array): number;

  stat(): NodeStat {
    return { type: 'device', size: 0, modified: 0, identity: 1n, writable: true };
  }

  resize(): void {
    fail('inval');
  }

  list(): never {
    return fail('notdir');
  }

  close(): void {
    // There is nothing to release.
  }
}

/** Modification time to set: `now` or milliseconds since 1970. */
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
