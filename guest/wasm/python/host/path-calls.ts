/**
 * Calls that take a path.
 *
 * @module
 */
/* oxlint-disable max-params -- the C library decides how many there are */
import { fail, type NewTime, type OpenOptions } from '../files/contract.ts';
import type { Context, ImportFunctions } from './context.ts';
import { ERRNO, syscall } from './errno.ts';
import { writeFileSystem, writeStat } from './stat-record.ts';

const AT_FDCWD = -100;
const AT_REMOVEDIR = 0x200;
const AT_EMPTY_PATH = 0x1000;
const ACCESS_MODE = 3;
const O_WRONLY = 1;
const O_RDWR = 2;
const O_CREAT = 0x40;
const O_EXCL = 0x80;
const O_TRUNC = 0x200;
const O_APPEND = 0x400;
const O_DIRECTORY = 0x10000;
const WANTS_WRITE = 2;
const UTIME_NOW = 0x3fff_ffff;
const UTIME_OMIT = 0x3fff_fffe;

export function pathCalls(context: Context): ImportFunctions {
  const { memory } = context;
  const at = (fd: number, path: number): ReturnType<Context['process']['locate']> =>
    context.process.locate(fd, memory.text(path));
  const stat = (fd: number, path: number, result: number): number =>
    syscall(() => {
      const { tree, path: inside } = at(fd, path);
      writeStat(memory, result, tree.stat(inside));
    });
  return {
    __syscall_openat: (fd: number, path: number, flags: number) =>
      syscall(() => open(context, { fd, path: memory.text(path), flags })),
    __syscall_stat64: (path: number, result: number) => stat(AT_FDCWD, path, result),
    __syscall_lstat64: (path: number, result: number) => stat(AT_FDCWD, path, result),
    __syscall_newfstatat: (fd: number, path: number, result: number, flags: number) =>
      flags & AT_EMPTY_PATH && memory.text(path) === ''
        ? syscall(() => writeStat(memory, result, context.process.descriptors.get(fd).node.stat()))
        : stat(fd, path, result),
    __syscall_faccessat: (fd: number, path: number, wanted: number) =>
      syscall(() => {
        const { tree, path: inside } = at(fd, path);
        if (!tree.stat(inside).writable && wanted & WANTS_WRITE) fail('rofs');
      }),
    __syscall_getcwd: (result: number, bytes: number) => {
      const path = `/${context.process.directory.join('/')}`;
      const room = new TextEncoder().encode(path).length + 1;
      return room > bytes >>> 0 ? -ERRNO.RANGE : memory.setText(result, path);
    },
    __syscall_chdir: (path: number) =>
      syscall(() => context.process.changeDirectory(context.process.resolve(AT_FDCWD, memory.text(path)))),
    __syscall_readlinkat: (fd: number, path: number) =>
      syscall(() => {
        const { tree, path: inside } = at(fd, path);
        return tree.stat(inside).type === 'link' ? -ERRNO.PERM : -ERRNO.INVAL;
      }),
    __syscall_statfs64: (path: number, _size: number, result: number) =>
      syscall(() => {
        const { tree, path: inside } = at(AT_FDCWD, path);
        tree.stat(inside);
        writeFileSystem(memory, result);
      }),
    ...changes(context, at),
  };
}

function changes(
  context: Context,
  at: (fd: number, path: number) => ReturnType<Context['process']['locate']>,
): ImportFunctions {
  const { memory } = context;
  const removeDirectory = (fd: number, path: number): void => {
    const { tree, path: inside } = at(fd, path);
    tree.removeDirectory(inside);
  };
  return {
    __syscall_mkdirat: (fd: number, path: number) =>
      syscall(() => {
        const { tree, path: inside } = at(fd, path);
        tree.makeDirectory(inside);
      }),
    __syscall_rmdir: (path: number) => syscall(() => removeDirectory(AT_FDCWD, path)),
    __syscall_unlinkat: (fd: number, path: number, flags: number) =>
      syscall(() => {
        if (flags & AT_REMOVEDIR) return removeDirectory(fd, path);
        const { tree, path: inside } = at(fd, path);
        return tree.removeFile(inside);
      }),
    __syscall_renameat: (fd: number, path: number, toFd: number, toPath: number) =>
      syscall(() => {
        const from = at(fd, path);
        const to = at(toFd, toPath);
        if (from.tree !== to.tree) fail('xdev');
        from.tree.rename(from.path, to.path);
      }),
    __syscall_truncate64: (path: number, size: bigint) =>
      syscall(() => {
        const file = openNode(context, AT_FDCWD, { path: memory.text(path), flags: O_WRONLY });
        file.resize(Number(size) >= 0 ? Number(size) : fail('inval'));
        file.close();
      }),
    __syscall_utimensat: (fd: number, path: number, times: number) =>
      syscall(() => {
        // Without a path it is the open file itself.
        const target = path === 0 ? context.process.descriptors.get(fd).path.join('/') : memory.text(path);
        const { tree, path: inside } = context.process.locate(fd, path === 0 ? `/${target}` : target);
        const time = modifiedTime(context, times);
        if (time !== undefined) tree.setModified(inside, time);
      }),
    ...changesOfMode(context, at),
  };
}

/** Modes and owners have no meaning here; the file must exist and be writable. */
function changesOfMode(
  context: Context,
  at: (fd: number, path: number) => ReturnType<Context['process']['locate']>,
): ImportFunctions {
  const touch = (fd: number, path: number): number =>
    syscall(() => {
      const { tree, path: inside } = at(fd, path);
      if (!tree.stat(inside).writable) fail('rofs');
    });
  const touchOpen = (fd: number): number =>
    syscall(() => {
      if (!context.process.descriptors.get(fd).node.stat().writable) fail('rofs');
    });
  return {
    __syscall_chmod: (path: number) => touch(AT_FDCWD, path),
    __syscall_fchmodat2: touch,
    __syscall_fchownat: touch,
    __syscall_fchmod: touchOpen,
    __syscall_fchown32: touchOpen,
    // A link could lead a later, more trusting reader astray.
    __syscall_symlinkat: () => -ERRNO.PERM,
    __syscall_mknodat: () => -ERRNO.PERM,
  };
}

interface Opening {
  path: string;
  flags: number;
}

function open(context: Context, { fd, path, flags }: Opening & { fd: number }): number {
  const node = openNode(context, fd, { path, flags });
  const access = flags & ACCESS_MODE;
  return context.process.descriptors.add({
    node,
    position: 0,
    readable: access !== O_WRONLY,
    writable: access === O_WRONLY || access === O_RDWR,
    append: (flags & O_APPEND) !== 0,
    path: context.process.resolve(fd, path),
  });
}

function openNode(
  { process }: Context,
  fd: number,
  { path, flags }: Opening,
): ReturnType<ReturnType<Context['process']['locate']>['tree']['open']> {
  const { tree, path: inside } = process.locate(fd, path);
  return tree.open(inside, optionsOf(flags));
}

function optionsOf(flags: number): OpenOptions {
  const access = flags & ACCESS_MODE;
  const has = (flag: number): boolean => (flags & flag) !== 0;
  return {
    read: access !== O_WRONLY,
    write: access === O_WRONLY || access === O_RDWR,
    create: has(O_CREAT),
    exclusive: has(O_EXCL),
    truncate: has(O_TRUNC),
    directory: has(O_DIRECTORY),
  };
}

/** From two `struct timespec`, of which the second counts; without them it is now. */
function modifiedTime({ memory }: Context, times: number): NewTime | undefined {
  if (times === 0) return 'now';
  const second = (times >>> 0) + 16;
  const nanoseconds = memory.u32(second + 8);
  if (nanoseconds === UTIME_NOW) return 'now';
  if (nanoseconds === UTIME_OMIT) return undefined;
  return Number(memory.view.getBigInt64(second, true)) * 1000 + nanoseconds / 1_000_000;
}
