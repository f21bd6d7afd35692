/**
 * System calls that take a path below a directory descriptor.
 *
 * @module
 */
import { BrokerError } from '../broker-client.ts';
import { FLAG_APPEND, timesOf, writeFilestat } from './descriptor-calls.ts';
import { u32, u64 } from './memory.ts';
import {
  type Preview1Process,
  RIGHT_READ,
  RIGHT_TRUNCATE,
  RIGHT_WRITE,
  type SystemCall,
  type SystemCalls,
} from './process.ts';

const FOLLOW = 1;
const OPEN_CREATE = 1;
const OPEN_DIRECTORY = 2;
const OPEN_EXCLUSIVE = 4;
const OPEN_TRUNCATE = 8;

export function pathCalls(): SystemCalls {
  return {
    ...statusCalls(),
    ...linkCalls(),
    path_open: { suspends: true, run: open },
    path_create_directory: onPath((process, fd, path) => process.directory(fd).mkdirAt(path)),
    path_remove_directory: onPath((process, fd, path) => process.directory(fd).rmdirAt(path)),
    path_unlink_file: onPath((process, fd, path) => process.directory(fd).unlinkAt(path)),
  };
}

/** The calls that take only a descriptor and a path. */
function onPath(work: (process: Preview1Process, fd: number, path: string) => Promise<void>): SystemCall {
  return {
    suspends: true,
    run: (process, [fd, path, length]) => work(process, u32(fd), process.memory.path(u32(path), u32(length))),
  };
}

async function open(process: Preview1Process, args: unknown[]): Promise<void> {
  const [fd, lookup, path, length, openFlags, rights, , descriptorFlags, out] = args;
  const directory = process.directory(u32(fd));
  const name = process.memory.path(u32(path), u32(length));
  const bits = u32(openFlags);
  const wanted = u64(rights);
  process.memory.writeU32(u32(out), 0);
  const truncate = (bits & OPEN_TRUNCATE) !== 0;
  if (truncate && (process.descriptor(u32(fd)).rights & RIGHT_TRUNCATE) === 0n) {
    throw new BrokerError('notcapable');
  }
  const write = (wanted & RIGHT_WRITE) !== 0n || truncate;
  const node = await directory.openAt(name, {
    create: (bits & OPEN_CREATE) !== 0,
    directory: (bits & OPEN_DIRECTORY) !== 0,
    exclusive: (bits & OPEN_EXCLUSIVE) !== 0,
    truncate,
    // A program that only wants to inspect a file requests neither.
    read: (wanted & RIGHT_READ) !== 0n || !write,
    write,
    followLast: (u32(lookup) & FOLLOW) !== 0,
  });
  const number = process.add(node, wanted);
  const descriptor = process.descriptor(number);
  descriptor.flags = u32(descriptorFlags);
  descriptor.append = (descriptor.flags & FLAG_APPEND) !== 0;
  process.memory.writeU32(u32(out), number);
}

function statusCalls(): SystemCalls {
  return {
    path_filestat_get: {
      suspends: true,
      run: async (process, [fd, lookup, path, length, out]) => {
        const name = process.memory.path(u32(path), u32(length));
        const stat = await process.directory(u32(fd)).statAt(name, (u32(lookup) & FOLLOW) !== 0);
        writeFilestat(process.memory, u32(out), stat);
      },
    },
    path_filestat_set_times: {
      suspends: true,
      run: (process, [fd, lookup, path, length, accessed, modified, flags]) =>
        process.directory(u32(fd)).setTimesAt(process.memory.path(u32(path), u32(length)), {
          ...timesOf(accessed, modified, flags),
          followLast: (u32(lookup) & FOLLOW) !== 0,
        }),
    },
    path_readlink: {
      suspends: true,
      run: async (process, [fd, path, length, buffer, room, out]) => {
        const name = process.memory.path(u32(path), u32(length));
        const target = Buffer.from(await process.directory(u32(fd)).readlinkAt(name)).subarray(0, u32(room));
        process.memory.writeBytes(u32(buffer), target);
        process.memory.writeU32(u32(out), target.length);
      },
    },
  };
}

function linkCalls(): SystemCalls {
  return {
    path_rename: {
      suspends: true,
      run: (process, [fd, path, length, toFd, toPath, toLength]) => {
        const from = process.memory.path(u32(path), u32(length));
        const to = process.memory.path(u32(toPath), u32(toLength));
        return process.directory(u32(fd)).renameAt(from, process.directory(u32(toFd)), to);
      },
    },
    path_link: {
      suspends: true,
      run: (process, [fd, lookup, path, length, toFd, toPath, toLength]) => {
        if ((u32(lookup) & FOLLOW) !== 0) throw new BrokerError('inval');
        const from = process.memory.path(u32(path), u32(length));
        const to = process.memory.path(u32(toPath), u32(toLength));
        return process.directory(u32(fd)).linkAt(from, process.directory(u32(toFd)), to);
      },
    },
    path_symlink: {
      suspends: true,
      run: (process, [target, targetLength, fd, path, length]) => {
        process.memory.path(u32(target), u32(targetLength));
        return process.directory(u32(fd)).symlinkAt(process.memory.path(u32(path), u32(length)));
      },
    },
  };
}
