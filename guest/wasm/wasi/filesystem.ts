/**
 * `wasi:filesystem`: types and preopens, on top of file nodes.
 *
 * @module
 */
import type { HostFunction, HostInterfaces, HostResource } from '../contract.ts';
import { BrokerError, type DirectoryEntry, type FileStat, type TimeChange } from './broker-client.ts';
import { type Call, currentCall, type Slot } from './call.ts';
import {
  asBytes,
  asCount,
  asFlag,
  asRecord,
  asResource,
  asString,
  asU32,
  asU64,
  asVariant,
  trap,
} from './check.ts';
import type { DateTime } from './clocks.ts';
import { filesystemCode } from './codes.ts';
import { FileNode } from './files/node.ts';
import { InputStream, IoError, OutputStream } from './streams.ts';

const NS_PER_S = 1_000_000_000n;

type Result<T> = { ok: T } | { err: string };

/** The resource `descriptor`. */
class Descriptor implements HostResource {
  readonly node: FileNode;
  #dropped = false;

  constructor(node: FileNode) {
    this.node = node;
  }

  drop(): void {
    if (this.#dropped) return;
    this.#dropped = true;
    this.node.letGo();
  }
}

/** The resource `directory-entry-stream`: a snapshot, so that changes during the walk have no effect. */
class DirectoryEntryStream {
  readonly #entries: DirectoryEntry[];
  #next = 0;

  constructor(entries: DirectoryEntry[]) {
    this.#entries = entries;
  }

  next(): Pick<DirectoryEntry, 'type' | 'name'> | undefined {
    const entry = this.#entries[this.#next];
    this.#next += 1;
    return entry && { type: entry.type, name: entry.name };
  }
}

export function filesystemInterfaces(slot: Slot): HostInterfaces {
  return {
    'wasi:filesystem/preopens': {
      'get-directories': { call: () => preopenDirectories(currentCall(slot)) },
    },
    'wasi:filesystem/types': {
      ...streamMethods(),
      ...fileMethods(),
      ...directoryMethods(),
      ...linkMethods(),
      ...identityMethods(),
      '[method]directory-entry-stream.read-directory-entry': {
        call: (self) => ({ ok: asResource(self, DirectoryEntryStream).next() }),
      },
      'filesystem-error-code': { call: (error) => filesystemCode(asResource(error, IoError).cause) },
    },
  };
}

function preopenDirectories(call: Call): [Descriptor, string][] {
  return call.preopens.map((preopen) => [
    new Descriptor(FileNode.forPreopen(call, preopen)),
    preopen.guestPath,
  ]);
}

function node(self: unknown): FileNode {
  return asResource(self, Descriptor).node;
}

/** A method that asks the broker. The guest can handle failures of the broker; any other error ends it. */
function asking(work: (node: FileNode, args: unknown[]) => Promise<unknown>): HostFunction {
  const call = async (self: unknown, ...args: unknown[]): Promise<Result<unknown>> => {
    const target = node(self);
    try {
      return { ok: await work(target, args) };
    } catch (error) {
      return { err: filesystemCode(error) };
    }
  };
  return { suspends: true, call };
}

function streamMethods(): Record<string, HostFunction> {
  return {
    '[method]descriptor.read-via-stream': { call: (self, offset) => readStream(node(self), asCount(offset)) },
    '[method]descriptor.write-via-stream': {
      call: (self, offset) => writeStream(node(self), asCount(offset)),
    },
    '[method]descriptor.append-via-stream': { call: (self) => writeStream(node(self), undefined) },
  };
}

function readStream(file: FileNode, start: number): Result<InputStream> {
  if (file.isDirectory) return { err: 'is-directory' };
  if (!file.access.read) return { err: 'bad-descriptor' };
  let offset = start;
  const read = async (length: number): Promise<Uint8Array> => {
    const bytes = await file.read(offset, length);
    offset += bytes.length;
    return bytes;
  };
  file.retain();
  return { ok: new InputStream(file.call, { read, close: () => file.letGo() }) };
}

function writeStream(file: FileNode, start: number | undefined): Result<OutputStream> {
  if (file.isDirectory) return { err: 'is-directory' };
  if (!file.access.write) return { err: 'bad-descriptor' };
  let offset = start;
  const write = async (bytes: Uint8Array): Promise<void> => {
    for (let rest = bytes; rest.length > 0;) {
      const written = await (offset === undefined ? file.append(rest) : file.write(offset, rest));
      if (offset !== undefined) offset += written;
      rest = rest.subarray(written);
    }
  };
  file.retain();
  return { ok: new OutputStream(file.call, { write, close: () => file.letGo() }) };
}

function fileMethods(): Record<string, HostFunction> {
  return {
    '[method]descriptor.advise': {
      call: (self, offset, length) => {
        asU64(offset);
        asU64(length);
        return node(self).isDirectory ? { err: 'bad-descriptor' } : { ok: undefined };
      },
    },
    '[method]descriptor.get-flags': { call: (self) => ({ ok: flagsOf(node(self)) }) },
    '[method]descriptor.get-type': { call: (self) => ({ ok: node(self).type }) },
    '[method]descriptor.sync-data': asking((file) => file.sync(true)),
    '[method]descriptor.sync': asking((file) => file.sync(false)),
    '[method]descriptor.set-size': asking((file, [size]) => file.setSize(asCount(size))),
    '[method]descriptor.set-times': asking((file, [accessed, modified]) =>
      file.setTimes({ accessed: timeChange(accessed), modified: timeChange(modified) }),
    ),
    '[method]descriptor.read': asking(async (file, [length, offset]) => {
      const count = asCount(length);
      const bytes = await file.read(asCount(offset), count);
      return [bytes, bytes.length === 0 && count > 0];
    }),
    '[method]descriptor.write': asking(async (file, [bytes, offset]) =>
      BigInt(await file.write(asCount(offset), asBytes(bytes))),
    ),
    '[method]descriptor.stat': asking(async (file) => statRecord(await file.stat())),
  };
}

function directoryMethods(): Record<string, HostFunction> {
  return {
    '[method]descriptor.open-at': asking(openAt),
    '[method]descriptor.read-directory': asking(
      async (file) => new DirectoryEntryStream((await file.list()).entries),
    ),
    '[method]descriptor.create-directory-at': asking((file, [path]) => file.mkdirAt(asString(path))),
    '[method]descriptor.remove-directory-at': asking((file, [path]) => file.rmdirAt(asString(path))),
    '[method]descriptor.unlink-file-at': asking((file, [path]) => file.unlinkAt(asString(path))),
    '[method]descriptor.stat-at': asking(async (file, [flags, path]) =>
      statRecord(await file.statAt(asString(path), follows(flags))),
    ),
    '[method]descriptor.set-times-at': asking((file, [flags, path, accessed, modified]) =>
      file.setTimesAt(asString(path), {
        followLast: follows(flags),
        accessed: timeChange(accessed),
        modified: timeChange(modified),
      }),
    ),
  };
}

function linkMethods(): Record<string, HostFunction> {
  return {
    '[method]descriptor.rename-at': asking((file, [path, to, toPath]) =>
      file.renameAt(asString(path), node(to), asString(toPath)),
    ),
    '[method]descriptor.link-at': asking((file, [flags, path, to, toPath]) => {
      if (follows(flags))
        throw new BrokerError('inval', 'Hard links to the target of a symbolic link are refused');
      return file.linkAt(asString(path), node(to), asString(toPath));
    }),
    '[method]descriptor.readlink-at': asking((file, [path]) => file.readlinkAt(asString(path))),
    '[method]descriptor.symlink-at': asking((file, [target, path]) => {
      asString(target);
      return file.symlinkAt(asString(path));
    }),
  };
}

function identityMethods(): Record<string, HostFunction> {
  return {
    '[method]descriptor.is-same-object': {
      suspends: true,
      call: async (self, other) => {
        const [one, two] = [node(self), node(other)];
        try {
          return (await one.stat()).identity === (await two.stat()).identity;
        } catch (error) {
          filesystemCode(error);
          return false;
        }
      },
    },
    '[method]descriptor.metadata-hash': asking(async (file) => hashOf(await file.stat())),
    '[method]descriptor.metadata-hash-at': asking(async (file, [flags, path]) =>
      hashOf(await file.statAt(asString(path), follows(flags))),
    ),
  };
}

async function openAt(file: FileNode, args: unknown[]): Promise<Descriptor> {
  const [pathFlags, path, openFlags, descriptorFlags] = args;
  const open = asRecord(openFlags);
  const access = asRecord(descriptorFlags);
  const write = asFlag(access, 'write');
  if (asFlag(access, 'mutate-directory')) file.mustBeWritable('change a directory');
  const opened = await file.openAt(asString(path), {
    create: asFlag(open, 'create'),
    directory: asFlag(open, 'directory'),
    exclusive: asFlag(open, 'exclusive'),
    truncate: asFlag(open, 'truncate'),
    read: asFlag(access, 'read'),
    write,
    followLast: follows(pathFlags),
  });
  return new Descriptor(opened);
}

function follows(pathFlags: unknown): boolean {
  return asFlag(asRecord(pathFlags), 'symlink-follow');
}

function flagsOf(file: FileNode): Record<string, boolean> {
  return {
    read: file.access.read,
    write: file.access.write && !file.isDirectory,
    'file-integrity-sync': false,
    'data-integrity-sync': false,
    'requested-write-sync': false,
    'mutate-directory': file.access.write && file.isDirectory,
  };
}

function statRecord(stat: FileStat): Record<string, unknown> {
  return {
    type: stat.type,
    'link-count': BigInt(stat.links),
    size: BigInt(stat.size),
    'data-access-timestamp': dateTime(stat.accessed),
    'data-modification-timestamp': dateTime(stat.modified),
    'status-change-timestamp': dateTime(stat.changed),
  };
}

function dateTime(nanoseconds: string): DateTime {
  const time = BigInt(nanoseconds);
  return { seconds: time / NS_PER_S, nanoseconds: Number(time % NS_PER_S) };
}

function hashOf(stat: FileStat): { lower: bigint; upper: bigint } {
  return { lower: BigInt(`0x${stat.identity.slice(16)}`), upper: BigInt(`0x${stat.identity.slice(0, 16)}`) };
}

function timeChange(value: unknown): TimeChange {
  const { tag, val } = asVariant(value);
  if (tag === 'no-change') return 'keep';
  if (tag === 'now') return 'now';
  if (tag !== 'timestamp') trap('An argument is not a new-timestamp');
  const time = asRecord(val);
  return String(asU64(time['seconds']) * NS_PER_S + BigInt(asU32(time['nanoseconds'])));
}
