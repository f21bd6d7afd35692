/**
 * How a cell asks for what it may not do itself: files and http, by numbered handles, over a channel that
 * somebody else provides. The host decides; nothing here grants anything.
 *
 * @module
 */

/**
 * What the host answers. `value` is plain JSON, `bytes` a raw body.
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
 * | `symlinkAt` | dir, path[] | always refused with `perm`; asked only so that the host can record it |
 * | `close` | file | – |
 * | `http` | HttpRequest (+ bytes) | status, headers: [name, value][], body: handle |
 * | `httpRead` | body, length | – (+ bytes; none at the end) |
 * | `httpClose` | body | – |
 *
 * `path` holds segments without `/`, `.`, `..` and NUL; no segments at all mean the directory itself. A cell may
 * lie, so the host checks them again.
 */
export interface BrokerClient {
  request(op: string, args: Record<string, unknown>, bytes?: Uint8Array): Promise<BrokerAnswer>;
}

export interface BrokerAnswer {
  value: Record<string, unknown>;
  bytes?: Uint8Array;
}

/** A refusal or failure. `denied` is a refusal by the grant, which the host has recorded already. */
export class BrokerError extends Error {
  /** Like POSIX, in lower case without the E (`noent`), or `denied`; http adds `dns`, `tls`, `toobig`, `timedout`, `readtimeout`. */
  readonly code: string;

  constructor(code: string, message: string = code) {
    super(message);
    this.code = code;
  }
}

/** A granted directory. `id` is a handle that the broker knows from the start of the call. */
export interface Preopen {
  id: number;
  guestPath: string;
  writable: boolean;
}

export interface OpenFlags {
  create: boolean;
  directory: boolean;
  exclusive: boolean;
  truncate: boolean;
  read: boolean;
  write: boolean;
  /** Whether a symbolic link as last segment may be followed (inside the granted directory only). */
  followLast: boolean;
}

/** The words of `wasi:filesystem`. */
export type FileType =
  | 'unknown'
  | 'block-device'
  | 'character-device'
  | 'directory'
  | 'fifo'
  | 'symbolic-link'
  | 'regular-file'
  | 'socket';

/** Times are nanoseconds since 1970 in decimal, for JSON numbers are too small. */
export interface FileStat {
  type: FileType;
  size: number;
  links: number;
  accessed: string;
  modified: string;
  changed: string;
  /** 32 hex digits, the same for the same file during a call; no inode number of the host. */
  identity: string;
}

export interface DirectoryEntry {
  name: string;
  type: FileType;
  /** As in FileStat. Without it a C library asks for each entry once more. */
  identity?: string;
}

/** What is in a directory, without `.` and `..`. */
export interface Listing {
  entries: DirectoryEntry[];
  /** Of the directory itself. */
  identity?: string;
}

/** `keep`, `now`, or nanoseconds since 1970 in decimal. */
export type TimeChange = string;

export interface HttpRequest {
  method: string;
  scheme: 'http' | 'https';
  authority: string;
  /** With query, begins with `/`. */
  path: string;
  /** Values are bytes as Latin-1 text. */
  headers: [string, string][];
  /** In milliseconds. */
  connectTimeout?: number;
  firstByteTimeout?: number;
  betweenBytesTimeout?: number;
}
