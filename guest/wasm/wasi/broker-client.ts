/**
 * How a cell requests what it cannot do itself: files and HTTP, by numbered handles, over a channel that
 * its caller provides. The host decides; nothing here grants anything.
 *
 * @module
 */
export type { Preopen } from '../../protocol.ts';

/**
 * The host's answer. `value` is plain JSON, `bytes` a raw body.
 *
 * | op | arguments (+ bytes) | value (+ bytes) |
 * |---|---|---|
 * | `open` | dir, path[], flags: OpenFlags | file, type, size |
 * | `read` | file, offset, length | – (+ bytes; none at the end) |
 * | `write` | file, offset (+ bytes) | written |
 * | `append` | file (+ bytes) | written |
 * | `stat` | file | FileStat |
 * | `statAt` | dir, path[], followLast | FileStat |
 * | `setSize` | file, size | – |
 * | `setTimes` | file, accessed, modified: TimeChange | – |
 * | `setTimesAt` | dir, path[], followLast, accessed, modified | – |
 * | `sync` | file, dataOnly | – |
 * | `readDir` | file | Listing |
 * | `mkdirAt` `rmdirAt` `unlinkAt` | dir, path[] | – |
 * | `renameAt` `linkAt` | dir, path[], toDir, toPath[] | – |
 * | `readlinkAt` | dir, path[] | target |
 * | `symlinkAt` | dir, path[] | always refused with `perm`; sent only so that the host records the attempt |
 * | `close` | file | – |
 * | `http` | HttpRequest (+ bytes) | status, headers: [name, value][], body: handle |
 * | `httpRead` | body, length | – (+ bytes; none at the end) |
 * | `httpClose` | body | – |
 *
 * `path` has segments without `/`, `.`, `..` and NUL; an empty list means the directory itself. A cell may
 * lie, so the host checks them again.
 */
export interface BrokerClient {
  request(op: string, args: Record<string, unknown>, bytes?: Uint8Array): Promise<BrokerAnswer>;
}

export interface BrokerAnswer {
  value: Record<string, unknown>;
  bytes?: Uint8Array;
}

/** A refusal or failure. `denied` is a refusal by the grant, which the host has already recorded. */
export class BrokerError extends Error {
  /** POSIX names in lower case without the E (`noent`), or `denied`; HTTP adds `dns`, `tls`, `toobig`, `timedout`, `readtimeout`. */
  readonly code: string;

  constructor(code: string, message: string = code) {
    super(message);
    this.code = code;
  }
}

export interface OpenFlags {
  create: boolean;
  directory: boolean;
  exclusive: boolean;
  truncate: boolean;
  read: boolean;
  write: boolean;
  /** Whether a symbolic link as the last segment may be followed (only inside the granted directory). */
  followLast: boolean;
}

/** File types as named in `wasi:filesystem`. */
export type FileType =
  | 'unknown'
  | 'block-device'
  | 'character-device'
  | 'directory'
  | 'fifo'
  | 'symbolic-link'
  | 'regular-file'
  | 'socket';

/** Times are nanoseconds since 1970 in decimal, which JSON numbers cannot represent. */
export interface FileStat {
  type: FileType;
  size: number;
  links: number;
  accessed: string;
  modified: string;
  changed: string;
  /** 32 hex digits, the same for the same file during a call; not an inode number of the host. */
  identity: string;
}

export interface DirectoryEntry {
  name: string;
  type: FileType;
  /** As in FileStat. Without it a C library would look up each entry separately. */
  identity?: string;
}

/** The entries of a directory, without `.` and `..`. */
export interface Listing {
  entries: DirectoryEntry[];
  /** For the directory itself. */
  identity?: string;
}

/** `keep`, `now`, or nanoseconds since 1970 in decimal. */
export type TimeChange = string;

export interface HttpRequest {
  method: string;
  scheme: 'http' | 'https';
  authority: string;
  /** Includes the query, starts with `/`. */
  path: string;
  /** Values are bytes as Latin-1 text. */
  headers: [string, string][];
  /** In milliseconds. */
  connectTimeout?: number;
  firstByteTimeout?: number;
  betweenBytesTimeout?: number;
}
