/**
 * System calls on open descriptors: reading, writing, seeking, metadata.
 *
 * @module
 */
import { BrokerError, type FileStat, type TimeChange } from '../broker-client.ts';
import type { Times } from '../files/node.ts';
import { type GuestMemory, offset64, totalLength, u32, u64, type Vector } from './memory.ts';
import {
  type Descriptor,
  fileTypeNumber,
  type Preview1Process,
  RIGHT_READ,
  RIGHT_WRITE,
  type SystemCall,
  type SystemCalls,
} from './process.ts';

export const FLAG_APPEND = 1;
const FLAG_NONBLOCK = 4;
const FILESTAT_BYTES = 64;
const FDSTAT_BYTES = 24;
const WHENCE_SET = 0;
const WHENCE_CURRENT = 1;
const WHENCE_END = 2;

export function descriptorCalls(): SystemCalls {
  return {
    ...transferCalls(),
    ...positionCalls(),
    ...statusCalls(),
    ...fileCalls(),
    fd_close: { run: (process, [fd]) => process.close(u32(fd)) },
    fd_renumber: { run: (process, [from, to]) => process.renumber(u32(from), u32(to)) },
  };
}

function transferCalls(): SystemCalls {
  return {
    fd_read: { suspends: true, run: read },
    fd_write: { suspends: true, run: write },
    fd_pread: {
      suspends: true,
      run: async (process, [fd, vectors, count, offset, out]) => {
        const descriptor = seekable(process, fd, RIGHT_READ);
        const into = process.memory.vectors(u32(vectors), u32(count));
        const bytes = await descriptor.node.read(offset64(offset), totalLength(into));
        deliver(process, { into, bytes, out });
      },
    },
    fd_pwrite: {
      suspends: true,
      run: async (process, [fd, vectors, count, offset, out]) => {
        const descriptor = seekable(process, fd, RIGHT_WRITE);
        const bytes = process.memory.gather(process.memory.vectors(u32(vectors), u32(count)));
        process.memory.writeU32(u32(out), await descriptor.node.write(offset64(offset), bytes));
      },
    },
  };
}

function read(process: Preview1Process, args: unknown[]): void | Promise<void> {
  const [fd, vectors, count, out] = args;
  const descriptor = allowed(process, fd, RIGHT_READ);
  const into = process.memory.vectors(u32(vectors), u32(count));
  const { node } = descriptor;
  if (node === undefined) {
    deliver(process, { into, bytes: process.call.readStdin(totalLength(into)), out });
    return undefined;
  }
  return node.read(descriptor.position, totalLength(into)).then((bytes) => {
    descriptor.position += bytes.length;
    deliver(process, { into, bytes, out });
  });
}

function write(process: Preview1Process, args: unknown[]): void | Promise<void> {
  const [fd, vectors, count, out] = args;
  const descriptor = allowed(process, fd, RIGHT_WRITE);
  const bytes = process.memory.gather(process.memory.vectors(u32(vectors), u32(count)));
  const { node, stream } = descriptor;
  process.memory.writeU32(u32(out), bytes.length);
  if (node === undefined) {
    process.call.write(stream === 'stderr' ? 'stderr' : 'stdout', bytes);
    return undefined;
  }
  const written = descriptor.append ? node.append(bytes) : node.write(descriptor.position, bytes);
  return written.then(async (length) => {
    descriptor.position = descriptor.append ? (await node.stat()).size : descriptor.position + length;
    process.memory.writeU32(u32(out), length);
  });
}

interface Delivery {
  into: Vector[];
  bytes: Uint8Array;
  out: unknown;
}

function deliver({ memory }: Preview1Process, { into, bytes, out }: Delivery): void {
  memory.scatter(into, bytes);
  memory.writeU32(u32(out), bytes.length);
}

function allowed(process: Preview1Process, fd: unknown, right: bigint): Descriptor {
  const descriptor = process.descriptor(u32(fd));
  if (descriptor.node?.isDirectory === true) throw new BrokerError('isdir');
  if ((descriptor.rights & right) === 0n) throw new BrokerError('badf');
  return descriptor;
}

type FileDescriptor = Descriptor & Required<Pick<Descriptor, 'node'>>;

function seekable(process: Preview1Process, fd: unknown, right: bigint): FileDescriptor {
  return withNode(right === 0n ? process.descriptor(u32(fd)) : allowed(process, fd, right));
}

function withNode(descriptor: Descriptor): FileDescriptor {
  if (descriptor.node === undefined) throw new BrokerError('spipe');
  if (descriptor.node.isDirectory) throw new BrokerError('badf');
  return descriptor as FileDescriptor;
}

function positionCalls(): SystemCalls {
  return {
    fd_seek: {
      suspends: true,
      run: async (process, [fd, delta, whence, out]) => {
        const descriptor = seekable(process, fd, 0n);
        const target = (await base(descriptor, u32(whence))) + BigInt.asIntN(64, u64(delta));
        if (target < 0n || target > BigInt(Number.MAX_SAFE_INTEGER)) throw new BrokerError('inval');
        process.memory.writeU64(u32(out), target);
        descriptor.position = Number(target);
      },
    },
    fd_tell: {
      run(process, [fd, out]) {
        process.memory.writeU64(u32(out), BigInt(seekable(process, fd, 0n).position));
      },
    },
  };
}

async function base(descriptor: FileDescriptor, whence: number): Promise<bigint> {
  if (whence === WHENCE_SET) return 0n;
  if (whence === WHENCE_CURRENT) return BigInt(descriptor.position);
  if (whence !== WHENCE_END) throw new BrokerError('inval');
  return BigInt((await descriptor.node.stat()).size);
}

function statusCalls(): SystemCalls {
  return {
    fd_fdstat_get: {
      run: (process, [fd, out]) => writeFdstat(process, process.descriptor(u32(fd)), u32(out)),
    },
    fd_fdstat_set_flags: {
      run(process, [fd, flags]) {
        const descriptor = process.descriptor(u32(fd));
        // Synchronous writing cannot be enabled after opening.
        if ((u32(flags) & ~(FLAG_APPEND | FLAG_NONBLOCK)) !== 0) throw new BrokerError('notsup');
        descriptor.flags = u32(flags);
        descriptor.append = (u32(flags) & FLAG_APPEND) !== 0;
      },
    },
    fd_fdstat_set_rights: {
      run(process, [fd, rights, inheriting]) {
        const descriptor = process.descriptor(u32(fd));
        const more = (u64(rights) & ~descriptor.rights) | (u64(inheriting) & ~descriptor.inheriting);
        if (more !== 0n) throw new BrokerError('notcapable');
        descriptor.rights = u64(rights);
        descriptor.inheriting = u64(inheriting);
      },
    },
    fd_prestat_get: {
      run(process, [fd, out]) {
        const name = preopenName(process, fd);
        process.memory.writeU32(u32(out), 0);
        process.memory.writeU32(u32(out) + 4, name.length);
      },
    },
    fd_prestat_dir_name: {
      run(process, [fd, path, length]) {
        const name = preopenName(process, fd);
        if (name.length > u32(length)) throw new BrokerError('nametoolong');
        process.memory.writeBytes(u32(path), name);
      },
    },
  };
}

function preopenName(process: Preview1Process, fd: unknown): Buffer {
  const { preopenName: name } = process.descriptor(u32(fd));
  if (name === undefined) throw new BrokerError('badf');
  return Buffer.from(name);
}

function writeFdstat({ memory }: Preview1Process, descriptor: Descriptor, out: number): void {
  memory.bytes(out, FDSTAT_BYTES).fill(0);
  memory.writeU8(out, fileTypeNumber(descriptor.node?.type ?? 'unknown'));
  memory.writeU16(out + 2, descriptor.flags);
  memory.writeU64(out + 8, descriptor.rights);
  memory.writeU64(out + 16, descriptor.inheriting);
}

function fileCalls(): SystemCalls {
  const sync = (dataOnly: boolean): SystemCall => ({
    suspends: true,
    run: (process, [fd]) => process.descriptor(u32(fd)).node?.sync(dataOnly),
  });
  return {
    fd_sync: sync(false),
    fd_datasync: sync(true),
    fd_advise: {
      run(process, [fd, , , advice]) {
        seekable(process, fd, 0n);
        if (u32(advice) > 5) throw new BrokerError('inval');
      },
    },
    fd_allocate: {
      run(process, [fd]) {
        seekable(process, fd, 0n);
        throw new BrokerError('notsup');
      },
    },
    fd_filestat_get: {
      suspends: true,
      run(process, [fd, out]) {
        const { node } = process.descriptor(u32(fd));
        if (node !== undefined)
          return node.stat().then((stat) => writeFilestat(process.memory, u32(out), stat));
        process.memory.bytes(u32(out), FILESTAT_BYTES).fill(0);
        return undefined;
      },
    },
    fd_filestat_set_size: {
      suspends: true,
      run: (process, [fd, size]) => seekable(process, fd, RIGHT_WRITE).node.setSize(offset64(size)),
    },
    fd_filestat_set_times: {
      suspends: true,
      run: (process, [fd, accessed, modified, flags]) =>
        process.node(u32(fd)).setTimes(timesOf(accessed, modified, flags)),
    },
  };
}

export function writeFilestat(memory: GuestMemory, out: number, stat: FileStat): void {
  memory.bytes(out, FILESTAT_BYTES).fill(0);
  memory.writeU64(out, 1n);
  memory.writeU64(out + 8, inodeOf(stat.identity));
  memory.writeU8(out + 16, fileTypeNumber(stat.type));
  memory.writeU64(out + 24, BigInt(stat.links));
  memory.writeU64(out + 32, BigInt(stat.size));
  memory.writeU64(out + 40, BigInt.asUintN(64, BigInt(stat.accessed)));
  memory.writeU64(out + 48, BigInt.asUintN(64, BigInt(stat.modified)));
  memory.writeU64(out + 56, BigInt.asUintN(64, BigInt(stat.changed)));
}

/** A number for comparing files, never the host's inode. */
export function inodeOf(identity: string): bigint {
  return BigInt(`0x${identity.slice(16)}`);
}

/** Times from flag bits: 1 set, 2 now for access; 4 set, 8 now for modification. */
export function timesOf(accessed: unknown, modified: unknown, flags: unknown): Times {
  const bits = u32(flags);
  return { accessed: timeChange(accessed, bits & 3), modified: timeChange(modified, (bits >> 2) & 3) };
}

function timeChange(time: unknown, bits: number): TimeChange {
  if (bits === 3) throw new BrokerError('inval');
  if (bits === 2) return 'now';
  return bits === 1 ? String(u64(time)) : 'keep';
}
