/**
 * A broker over one real directory, to run real programs against. It trusts the segments it receives, so it is for
 * tests only; the host's own broker does not.
 *
 * @module
 */
import { type BigIntStats, constants } from 'node:fs';
import {
  type FileHandle,
  link,
  lstat,
  mkdir,
  open,
  readdir,
  readlink,
  rename,
  rmdir,
  unlink,
  utimes,
} from 'node:fs/promises';
import { join } from 'node:path';

import {
  type BrokerAnswer,
  type BrokerClient,
  BrokerError,
  type DirectoryEntry,
  type FileStat,
  type FileType,
  type OpenFlags,
} from '../../../guest/wasm/wasi/broker-client.ts';

type Args = Record<string, unknown>;

interface Open {
  path: string;
  handle?: FileHandle;
}

export class DirectoryBroker implements BrokerClient {
  readonly #open = new Map<number, Open>();
  #next = 100;

  constructor(root: string) {
    this.#open.set(1, { path: root });
  }

  get openFiles(): number {
    return this.#open.size - 1;
  }

  async request(op: string, args: Args, bytes?: Uint8Array): Promise<BrokerAnswer> {
    try {
      const { bytes: out, ...value } = await this.#perform(op, args, bytes ?? new Uint8Array(0));
      return { value, ...(out instanceof Uint8Array ? { bytes: out } : {}) };
    } catch (error) {
      const { code } = error as { code?: string };
      if (error instanceof BrokerError || code === undefined) throw error;
      throw new BrokerError(code.replace(/^E/, '').toLowerCase());
    }
  }

  async #perform(op: string, args: Args, bytes: Uint8Array): Promise<Args> {
    const path = 'dir' in args ? join(this.#file(args['dir']).path, ...(args['path'] as string[])) : '';
    const target =
      'toDir' in args ? join(this.#file(args['toDir']).path, ...(args['toPath'] as string[])) : '';
    if (op === 'open') return this.#openAt(path, args['flags'] as OpenFlags);
    if (op === 'statAt') return { ...statOf(await lstat(path, { bigint: true })) };
    if (op === 'setTimesAt') return setTimes(path, args);
    if (op === 'readlinkAt') return { target: await readlink(path) };
    if (op === 'symlinkAt') throw new BrokerError('perm');
    if (op === 'mkdirAt') await mkdir(path);
    else if (op === 'rmdirAt') await rmdir(path);
    else if (op === 'unlinkAt') await unlink(path);
    else if (op === 'renameAt') await rename(path, target);
    else if (op === 'linkAt') await link(path, target);
    else return this.#onFile(op, args, bytes);
    return {};
  }

  async #onFile(op: string, args: Args, bytes: Uint8Array): Promise<Args> {
    const { path, handle } = this.#file(args['file']);
    if (op === 'stat') return { ...statOf(await lstat(path, { bigint: true })) };
    if (op === 'setTimes') return setTimes(path, args);
    if (op === 'readDir') return listing(path);
    if (op === 'close') {
      this.#open.delete(Number(args['file']));
      await handle?.close();
      return {};
    }
    if (handle === undefined) throw new BrokerError('isdir');
    if (op === 'read') {
      const buffer = new Uint8Array(Number(args['length']));
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, Number(args['offset']));
      return { bytes: buffer.subarray(0, bytesRead) };
    }
    if (op === 'write' || op === 'append') {
      const position = op === 'write' ? Number(args['offset']) : (await handle.stat()).size;
      return { written: (await handle.write(bytes, 0, bytes.length, position)).bytesWritten };
    }
    if (op === 'setSize') await handle.truncate(Number(args['size']));
    else if (op !== 'sync') throw new BrokerError('notsup');
    return {};
  }

  async #openAt(path: string, flags: OpenFlags): Promise<Args> {
    const mode =
      (flags.write ? (flags.read ? constants.O_RDWR : constants.O_WRONLY) : constants.O_RDONLY) |
      (flags.create ? constants.O_CREAT : 0) |
      (flags.exclusive ? constants.O_EXCL : 0) |
      (flags.truncate ? constants.O_TRUNC : 0) |
      (flags.directory ? constants.O_DIRECTORY : 0) |
      constants.O_NOFOLLOW;
    const handle = await open(path, mode);
    const stat = statOf(await handle.stat({ bigint: true }));
    this.#next += 1;
    if (stat.type === 'directory') {
      await handle.close();
      this.#open.set(this.#next, { path });
    } else {
      this.#open.set(this.#next, { path, handle });
    }
    return { file: this.#next, type: stat.type, size: stat.size };
  }

  #file(id: unknown): Open {
    const found = this.#open.get(Number(id));
    if (found === undefined) throw new BrokerError('badf');
    return found;
  }
}

/** To the microsecond, the precision that Node sets. */
async function setTimes(path: string, args: Args): Promise<Args> {
  const before = await lstat(path, { bigint: true });
  const seconds = (change: unknown, kept: bigint): number => {
    if (change === 'now') return Date.now() / 1000;
    return Number(change === 'keep' ? kept : BigInt(String(change))) / 1e9;
  };
  await utimes(path, seconds(args['accessed'], before.atimeNs), seconds(args['modified'], before.mtimeNs));
  return {};
}

async function listing(path: string): Promise<Args> {
  const entries: DirectoryEntry[] = [];
  for (const name of await readdir(path)) {
    const { type, identity } = statOf(await lstat(join(path, name), { bigint: true }));
    entries.push({ name, type, identity });
  }
  return { entries, identity: statOf(await lstat(path, { bigint: true })).identity };
}

function typeOf(entry: { isFile(): boolean; isDirectory(): boolean; isSymbolicLink(): boolean }): FileType {
  if (entry.isFile()) return 'regular-file';
  if (entry.isDirectory()) return 'directory';
  return entry.isSymbolicLink() ? 'symbolic-link' : 'unknown';
}

function statOf(stat: BigIntStats): FileStat {
  return {
    type: typeOf(stat),
    size: Number(stat.size),
    links: Number(stat.nlink),
    accessed: String(stat.atimeNs),
    modified: String(stat.mtimeNs),
    changed: String(stat.ctimeNs),
    identity: stat.dev.toString(16).padStart(16, '0') + stat.ino.toString(16).padStart(16, '0'),
  };
}
