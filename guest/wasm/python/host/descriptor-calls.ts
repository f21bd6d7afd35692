/**
 * Calls on open files: read, write, seek, stat, list, duplicate.
 *
 * @module
 */
/* oxlint-disable max-params -- the C library decides how many there are */
import { fail, type DirectoryItem } from '../files/contract.ts';
import type { Context, ImportFunctions } from './context.ts';
import type { Description } from './descriptors.ts';
import { ERRNO, syscall, wasi } from './errno.ts';
import { DIRENT_BYTES, writeEntry, writeFileSystem, writeStat } from './stat-record.ts';

const VECTOR_BYTES = 8;
const MAX_VECTORS = 1024;
const WHENCE_CURRENT = 1;
const WHENCE_END = 2;
const F_DUPFD = 0;
const F_GETFL = 3;
const F_DUPFD_CLOEXEC = 1030;
const O_RDWR = 2;
const O_WRONLY = 1;
const O_APPEND = 0x400;
const POLL_BYTES = 8;
const POLLIN_POLLOUT = 0x001 | 0x004;

export function descriptorCalls(context: Context): ImportFunctions {
  const files = (): Context['process']['descriptors'] => context.process.descriptors;
  const { memory } = context;
  return {
    fd_close: (fd: number) => wasi(() => files().close(fd)),
    fd_read: (fd: number, vectors: number, count: number, result: number) =>
      wasi(() => memory.setU32(result, readInto(context, readable(files().get(fd)), { vectors, count }))),
    fd_pread: (fd: number, vectors: number, count: number, offset: bigint, result: number) =>
      wasi(() => {
        const file = positioned({ ...readable(files().get(fd)), position: positionOf(offset) });
        memory.setU32(result, readInto(context, file, { vectors, count }));
      }),
    fd_write: (fd: number, vectors: number, count: number, result: number) =>
      wasi(() => memory.setU32(result, writeFrom(context, writable(files().get(fd)), { vectors, count }))),
    fd_pwrite: (fd: number, vectors: number, count: number, offset: bigint, result: number) =>
      wasi(() => {
        const file = { ...writable(files().get(fd)), position: positionOf(offset), append: false };
        memory.setU32(result, writeFrom(context, positioned(file), { vectors, count }));
      }),
    fd_seek: (fd: number, offset: bigint, whence: number, result: number) =>
      wasi(() => memory.setU64(result, BigInt(seek(files().get(fd), Number(offset), whence)))),
    fd_fdstat_get: (fd: number, result: number) =>
      wasi(() => {
        const { type } = files().get(fd).node.stat();
        // The C library takes a character device for a terminal, so other files have no type.
        memory.slice(result, 24).fill(0)[0] = type === 'directory' ? 3 : type === 'file' ? 4 : 0;
      }),
    fd_sync: (fd: number) => wasi(() => void files().get(fd)),
    __syscall_fdatasync: (fd: number) => syscall(() => void files().get(fd)),
    __syscall_fstat64: (fd: number, result: number) =>
      syscall(() => writeStat(memory, result, files().get(fd).node.stat())),
    __syscall_ftruncate64: (fd: number, size: bigint) =>
      syscall(() => writable(files().get(fd)).node.resize(positionOf(size))),
    __syscall_fallocate: (fd: number, mode: number, offset: bigint, length: bigint) =>
      syscall(() => {
        if (mode !== 0) fail('notsup');
        const { node } = writable(files().get(fd));
        const end = positionOf(offset) + positionOf(length);
        if (end > node.stat().size) node.resize(end);
      }),
    __syscall_fadvise64: (fd: number) => syscall(() => void files().get(fd)),
    __syscall_getdents64: (fd: number, result: number, bytes: number) =>
      syscall(() => list(context, files().get(fd), { result, bytes })),
    __syscall_dup: (fd: number) => syscall(() => files().duplicate(fd)),
    __syscall_dup3: (fd: number, target: number) =>
      syscall(() => {
        if (fd === target) fail('inval');
        files().replace(fd, target);
        return target;
      }),
    __syscall_fchdir: (fd: number) => syscall(() => context.process.changeDirectory(files().get(fd).path)),
    __syscall_fcntl64: (fd: number, command: number, args: number) =>
      syscall(() => control(context, fd, { command, args })),
    __syscall_ioctl: (fd: number) => syscall(() => (files().get(fd), -ERRNO.NOTTY)),
    __syscall_fstatfs64: (fd: number, _size: number, result: number) =>
      syscall(() => (files().get(fd), writeFileSystem(memory, result))),
    __syscall_poll: (polled: number, count: number, timeout: number) =>
      syscall(() => poll(context, { polled, count, timeout })),
    __syscall_pipe: () => -ERRNO.NOSYS,
  };
}

interface Vectors {
  vectors: number;
  count: number;
}

function readable(file: Description): Description {
  return file.readable ? file : fail('badf');
}

function writable(file: Description): Description {
  return file.writable ? file : fail('badf');
}

function positioned(file: Description): Description {
  return file.node.isStream ? fail('spipe') : file;
}

function readInto({ memory }: Context, file: Description, { vectors, count }: Vectors): number {
  if (count >>> 0 > MAX_VECTORS) fail('inval');
  let total = 0;
  for (let index = 0; index < count; index++) {
    const at = vectors + index * VECTOR_BYTES;
    const into = memory.slice(memory.u32(at), memory.u32(at + 4));
    const got = into.length === 0 ? 0 : file.node.read(into, file.position);
    file.position += got;
    total += got;
    if (got < into.length) break;
  }
  return total;
}

function writeFrom({ memory }: Context, file: Description, { vectors, count }: Vectors): number {
  if (count >>> 0 > MAX_VECTORS) fail('inval');
  let total = 0;
  for (let index = 0; index < count; index++) {
    const at = vectors + index * VECTOR_BYTES;
    const bytes = memory.slice(memory.u32(at), memory.u32(at + 4));
    if (bytes.length === 0) continue;
    const put = file.node.write(bytes, file.append ? undefined : file.position);
    file.position = file.append ? file.node.stat().size : file.position + put;
    total += put;
    if (put < bytes.length) break;
  }
  return total;
}

function seek(file: Description, offset: number, whence: number): number {
  const { node } = positioned(file);
  let start = 0;
  if (whence === WHENCE_CURRENT) start = file.position;
  else if (whence === WHENCE_END) start = node.stat().size;
  else if (whence !== 0) fail('inval');
  const position = start + offset;
  if (!Number.isSafeInteger(position) || position < 0) fail('inval');
  file.position = position;
  if (position === 0) delete file.listing;
  return position;
}

function positionOf(value: bigint): number {
  const position = Number(value);
  return Number.isSafeInteger(position) && position >= 0 ? position : fail('inval');
}

function list(
  { memory }: Context,
  file: Description,
  { result, bytes }: { result: number; bytes: number },
): number {
  const { node } = file;
  const self = (name: string): DirectoryItem => ({ name, type: 'directory', identity: node.stat().identity });
  file.listing ??= { items: [self('.'), self('..'), ...node.list()], next: 0 };
  const { listing } = file;
  let used = 0;
  while (listing.next < listing.items.length && used + DIRENT_BYTES <= bytes >>> 0) {
    const item = listing.items[listing.next++] ?? fail('io');
    writeEntry(memory, result + used, { ...item, place: listing.next });
    used += DIRENT_BYTES;
  }
  return used;
}

function control(
  { memory, process }: Context,
  fd: number,
  { command, args }: { command: number; args: number },
): number {
  const file = process.descriptors.get(fd);
  if (command === F_DUPFD || command === F_DUPFD_CLOEXEC)
    return process.descriptors.duplicate(fd, memory.u32(args));
  if (command !== F_GETFL) return 0;
  const access = file.writable ? (file.readable ? O_RDWR : O_WRONLY) : 0;
  return access | (file.append ? O_APPEND : 0);
}

/** Everything that can be open is always ready; without descriptors it is a way to sleep. */
function poll(
  { memory, process, ports }: Context,
  { polled, count, timeout }: { polled: number; count: number; timeout: number },
): number {
  if (count >>> 0 > MAX_VECTORS) fail('inval');
  let ready = 0;
  for (let index = 0; index < count; index++) {
    const at = polled + index * POLL_BYTES;
    const isOpen = process.descriptors.has(memory.view.getInt32(at >>> 0, true));
    const events = memory.view.getInt16((at >>> 0) + 4, true) & POLLIN_POLLOUT;
    memory.setI16((at >>> 0) + 6, isOpen ? events : 0);
    if (isOpen && events !== 0) ready++;
  }
  if (ready === 0 && timeout !== 0) ports.sleep(timeout < 0 ? Number.POSITIVE_INFINITY : timeout);
  return ready;
}
