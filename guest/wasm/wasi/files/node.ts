/**
 * An open file or directory of the broker, for both WASI versions. Holds the broker's handle, never a path.
 * Operations that a read-only grant forbids are refused here, and again by the broker.
 *
 * @module
 */
import { posix } from 'node:path';
import {
  BrokerError,
  type FileStat,
  type FileType,
  type Listing,
  type OpenFlags,
  type Preopen,
  type TimeChange,
} from '../broker-client.ts';
import type { Call } from '../call.ts';
import { parsePath } from './path.ts';

/** Maximum size of one request. */
const MAX_TRANSFER = 1 << 20;

const EMPTY = new Uint8Array(0);

export interface Access {
  read: boolean;
  write: boolean;
}

export interface Times {
  accessed: TimeChange;
  modified: TimeChange;
}

export interface Opened {
  file: number;
  type: FileType;
  access: Access;
}

export class FileNode {
  readonly call: Call;
  readonly preopen: Preopen;
  readonly type: FileType;
  readonly access: Access;
  readonly #file: number;
  #users = 1;
  #released = false;

  constructor(call: Call, preopen: Preopen, opened: Opened) {
    this.call = call;
    this.preopen = preopen;
    this.type = opened.type;
    this.access = opened.access;
    this.#file = opened.file;
    if (!this.#isPreopen) call.hold(this);
  }

  static forPreopen(call: Call, preopen: Preopen): FileNode {
    const access = { read: true, write: preopen.writable };
    return new FileNode(call, preopen, { file: preopen.id, type: 'directory', access });
  }

  get isDirectory(): boolean {
    return this.type === 'directory';
  }

  get #isPreopen(): boolean {
    return this.#file === this.preopen.id;
  }

  /** Streams outlive the descriptor that created them. */
  retain(): this {
    this.#users += 1;
    return this;
  }

  letGo(): void {
    this.#users -= 1;
    if (this.#users === 0) this.release();
  }

  release(): void {
    if (this.#released || this.#isPreopen) return;
    this.#released = true;
    this.call.held.delete(this);
    this.call.notify('close', { file: this.#file });
  }

  /** Throws unless the grant allows changes, and reports the attempt to the host. */
  mustBeWritable(act: string): void {
    if (this.preopen.writable) return;
    this.call.options.onDenied?.('filesystem', `${act} in ${this.preopen.guestPath}`, 'readable only');
    throw new BrokerError('rofs', `The directory "${this.preopen.guestPath}" is read-only`);
  }

  async read(offset: number, length: number): Promise<Uint8Array> {
    this.#needs('read');
    if (length === 0) return EMPTY;
    const args = { file: this.#file, offset, length: Math.min(length, MAX_TRANSFER) };
    const { bytes } = await this.call.request('read', args);
    return bytes === undefined ? EMPTY : bytes.subarray(0, length);
  }

  /** Returns the number of bytes written, which may be smaller. */
  async write(offset: number, bytes: Uint8Array): Promise<number> {
    return this.#send('write', { file: this.#file, offset }, bytes);
  }

  async append(bytes: Uint8Array): Promise<number> {
    return this.#send('append', { file: this.#file }, bytes);
  }

  async stat(): Promise<FileStat> {
    const { value } = await this.call.request('stat', { file: this.#file });
    return value as unknown as FileStat;
  }

  async setSize(size: number): Promise<void> {
    this.#needs('write');
    await this.call.request('setSize', { file: this.#file, size });
  }

  async setTimes(times: Times): Promise<void> {
    this.mustBeWritable('set times');
    await this.call.request('setTimes', { file: this.#file, ...times });
  }

  async sync(dataOnly: boolean): Promise<void> {
    await this.call.request('sync', { file: this.#file, dataOnly });
  }

  async list(): Promise<Listing> {
    if (!this.isDirectory) throw new BrokerError('notdir');
    const { value } = await this.call.request('readDir', { file: this.#file });
    return value as unknown as Listing;
  }

  async openAt(path: string, flags: OpenFlags): Promise<FileNode> {
    const { segments, directory } = this.#below(path);
    if (flags.write || flags.create || flags.truncate) this.mustBeWritable('open for writing');
    if (flags.directory && flags.write && flags.create) throw new BrokerError('inval');
    const wanted: OpenFlags = { ...flags, directory: flags.directory || directory };
    const { value } = await this.call.request('open', { dir: this.#file, path: segments, flags: wanted });
    const type = value['type'] as FileType;
    // A directory opened for reading still allows changes to its content.
    const write = type === 'directory' ? this.preopen.writable : flags.write;
    const access = { read: type === 'directory' || flags.read, write };
    return new FileNode(this.call, this.preopen, { file: Number(value['file']), type, access });
  }

  async statAt(path: string, followLast: boolean): Promise<FileStat> {
    const { segments, directory } = this.#below(path);
    const { value } = await this.call.request('statAt', { dir: this.#file, path: segments, followLast });
    const stat = value as unknown as FileStat;
    if (directory && stat.type !== 'directory') throw new BrokerError('notdir');
    return stat;
  }

  async setTimesAt(path: string, times: Times & { followLast: boolean }): Promise<void> {
    const { segments } = this.#changing(path, 'set times');
    await this.call.request('setTimesAt', { dir: this.#file, path: segments, ...times });
  }

  async mkdirAt(path: string): Promise<void> {
    const { segments } = this.#changing(path, 'create a directory');
    if (segments.length === 0) throw new BrokerError('exist');
    await this.call.request('mkdirAt', { dir: this.#file, path: segments });
  }

  async rmdirAt(path: string): Promise<void> {
    const { segments } = this.#changing(path, 'remove a directory');
    if (segments.length === 0) throw new BrokerError('inval');
    await this.call.request('rmdirAt', { dir: this.#file, path: segments });
  }

  async unlinkAt(path: string): Promise<void> {
    const { segments, directory } = this.#changing(path, 'remove a file');
    if (segments.length === 0) throw new BrokerError('isdir');
    if (directory) {
      const { type } = await this.statAt(path, false);
      if (type === 'directory') throw new BrokerError('isdir');
    }
    await this.call.request('unlinkAt', { dir: this.#file, path: segments });
  }

  async renameAt(path: string, to: FileNode, toPath: string): Promise<void> {
    await this.#relate('renameAt', [path, toPath], to);
  }

  async linkAt(path: string, to: FileNode, toPath: string): Promise<void> {
    await this.#relate('linkAt', [path, toPath], to);
  }

  async readlinkAt(path: string): Promise<string> {
    const { segments } = this.#below(path);
    if (segments.length === 0) throw new BrokerError('inval');
    const { value } = await this.call.request('readlinkAt', { dir: this.#file, path: segments });
    return String(value['target']);
  }

  /** The broker refuses this; it is asked so that the attempt is recorded. */
  async symlinkAt(path: string): Promise<void> {
    const { segments } = this.#changing(path, 'create a symbolic link');
    await this.call.request('symlinkAt', { dir: this.#file, path: segments });
    throw new BrokerError('perm');
  }

  async #send(op: string, args: Record<string, unknown>, bytes: Uint8Array): Promise<number> {
    this.#needs('write');
    if (bytes.length === 0) return 0;
    const { value } = await this.call.request(op, args, bytes.subarray(0, MAX_TRANSFER));
    const written = Number(value['written']);
    // A write of zero bytes without an error would let a guest retry forever.
    if (!(written > 0 && written <= bytes.length)) throw new BrokerError('io');
    return written;
  }

  async #relate(op: string, paths: [string, string], to: FileNode): Promise<void> {
    const from = this.#changing(paths[0], op);
    const target = to.#changing(paths[1], op);
    if (from.segments.length === 0 || target.segments.length === 0) throw new BrokerError('busy');
    // Directories cannot be hard-linked, and a new name with a slash would be one.
    if (op === 'linkAt' && target.directory) throw new BrokerError('noent');
    if (from.directory || target.directory) await this.#mustBeDirectory(paths[0]);
    const args = { dir: this.#file, path: from.segments, toDir: to.#file, toPath: target.segments };
    await this.call.request(op, args);
  }

  async #mustBeDirectory(path: string): Promise<void> {
    const { type } = await this.statAt(path, false);
    if (type !== 'directory') throw new BrokerError('notdir');
  }

  #changing(path: string, act: string): ReturnType<typeof parsePath> {
    const parsed = this.#below(path);
    this.mustBeWritable(act);
    return parsed;
  }

  #below(path: string): ReturnType<typeof parsePath> {
    if (!this.isDirectory) throw new BrokerError('notdir');
    try {
      return parsePath(path);
    } catch (error) {
      if (error instanceof BrokerError && error.code === 'perm') this.#tellOfEscape(path);
      throw error;
    }
  }

  /** The parent of a directory that the guest opened itself may also be granted. */
  #tellOfEscape(path: string): void {
    if (!this.#isPreopen && !path.startsWith('/')) return;
    const outside = posix.resolve(this.preopen.guestPath, path);
    this.call.options.onDenied?.('filesystem', `read ${outside}`, 'not granted');
  }

  #needs(access: 'read' | 'write'): void {
    if (this.isDirectory) throw new BrokerError('isdir');
    if (!this.access[access]) throw new BrokerError('badf', `The file is not open for ${access} access`);
  }
}
