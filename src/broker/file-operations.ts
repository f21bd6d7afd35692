/**
 * File operations for guests. Every argument comes from the guest and is checked.
 *
 * @module
 */
import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  linkSync,
  mkdirSync,
  openSync,
  readlinkSync,
  readSync,
  renameSync,
  rmdirSync,
  unlinkSync,
  utimesSync,
  writeSync,
} from 'node:fs';
import { BrokerRefusal, type BrokerReply } from '../cell/contract.ts';
import { LARGEST_FILE_BYTES } from '../policy/grant.ts';
import { openPlace } from './file-open.ts';
import { entryOf, readDirectory, statReply, syncToDisk, timeOf } from './file-facts.ts';
import { O_PATH, type FileTable, type OpenFile, type Place } from './file-table.ts';

const MAX_READ_BYTES = 1024 * 1024;
const NEW_FOLDER_MODE = 0o755;
const { O_APPEND, O_NOFOLLOW, O_WRONLY } = constants;
const NOTHING: BrokerReply = { value: {} };

type Args = Record<string, unknown>;
type Reply = BrokerReply | Promise<BrokerReply>;
type Operation = (table: FileTable, args: Args, bytes: Uint8Array) => Reply;

export const FILE_OPERATIONS: Readonly<Record<string, Operation>> = Object.freeze({
  __proto__: null as never,
  open: openPlace,
  read,
  write,
  append,
  stat: (table, args) => statReply(table.get(args['file']).fd),
  statAt: (table, args) => withHandle(table, args, statReply),
  setSize,
  setTimes: (table, args) => setTimes(table, table.get(args['file']), args),
  setTimesAt,
  sync: async (table, args) => {
    await syncToDisk(table.get(args['file']).fd, args['dataOnly'] === true);
    return NOTHING;
  },
  readDir,
  mkdirAt: (table, args) => change(table, args, ({ path }) => mkdirSync(path, { mode: NEW_FOLDER_MODE })),
  rmdirAt: (table, args) => change(table, args, ({ path }) => rmdirSync(path)),
  unlinkAt: (table, args) => change(table, args, ({ path }) => unlinkSync(path)),
  renameAt: (table, args) => changeTwo(table, args, renameSync),
  linkAt: (table, args) => changeTwo(table, args, linkSync),
  readlinkAt: (table, args) =>
    table.at(args['dir'], args['path'], ({ path }) => ({ value: { target: insideTarget(path) } })),
  // A link made by a guest could lead a later, more trusting reader out of the directory.
  symlinkAt: (table, args) =>
    change(table, args, ({ guestPath }) => {
      table.recordDenial(`link ${guestPath}`, 'no cell makes symbolic links');
      throw new BrokerRefusal('perm', 'symbolic links cannot be created');
    }),
  close: (table, args) => (table.closeFile(args['file']), NOTHING),
});

function read(table: FileTable, args: Args): BrokerReply {
  const file = table.get(args['file']);
  const length = Math.min(whole(args['length']), MAX_READ_BYTES);
  const buffer = Buffer.allocUnsafe(length);
  const count = readSync(file.fd, buffer, 0, length, whole(args['offset']));
  return { value: {}, payload: buffer.subarray(0, count) };
}

function write(table: FileTable, args: Args, bytes: Uint8Array): BrokerReply {
  const file = openForWriting(table, args);
  const position = whole(args['offset']);
  const { size } = fstatSync(file.fd);
  assertRoom(file, { before: size, after: position + bytes.length });
  const written = writeSync(file.fd, bytes, 0, bytes.length, position);
  useRoom(file, position + written - size);
  return { value: { written } };
}

/** The kernel finds the end, because others may write to the same file. */
function append(table: FileTable, args: Args, bytes: Uint8Array): BrokerReply {
  const file = openForWriting(table, args);
  const { size } = fstatSync(file.fd);
  assertRoom(file, { before: size, after: size + bytes.length });
  const fd = openSync(`/proc/self/fd/${file.fd}`, O_WRONLY | O_APPEND);
  try {
    const written = writeSync(fd, bytes, 0, bytes.length);
    useRoom(file, written);
    return { value: { written } };
  } finally {
    closeSync(fd);
  }
}

/** The quota of a path counts bytes that a call adds; freed bytes are not credited. */
function assertRoom({ root }: OpenFile, { before, after }: { before: number; after: number }): void {
  if (after - before > root.room) throw new BrokerRefusal('nospc', 'beyond max_bytes of the grant');
  // The kernel enforces the same in a jail.
  if (after > LARGEST_FILE_BYTES && after > before)
    throw new BrokerRefusal('fbig', 'larger than the largest file of a cell');
}

function useRoom({ root }: OpenFile, growth: number): void {
  root.room -= Math.max(0, growth);
}

function openForWriting(table: FileTable, args: Args): OpenFile {
  const file = table.get(args['file']);
  table.assertWritable(file);
  if (!file.writable) throw new BrokerRefusal('badf', 'not opened for writing');
  return file;
}

function setSize(table: FileTable, args: Args): BrokerReply {
  const file = openForWriting(table, args);
  const size = whole(args['size']);
  const before = fstatSync(file.fd).size;
  assertRoom(file, { before, after: size });
  ftruncateSync(file.fd, size);
  useRoom(file, size - before);
  return NOTHING;
}

function setTimes(table: FileTable, file: OpenFile, args: Args): BrokerReply {
  table.assertWritable(file);
  const [accessed, modified] = [timeOf(args['accessed']), timeOf(args['modified'])];
  // Through /proc, because an O_PATH handle cannot be changed in another way.
  utimesSync(`/proc/self/fd/${file.fd}`, accessed, modified);
  return NOTHING;
}

function setTimesAt(table: FileTable, args: Args): BrokerReply {
  return withHandle(table, { ...args, followLast: true }, (fd, { root, guestPath }) =>
    setTimes(table, { fd, root, guestPath, writable: true }, args),
  );
}

function readDir(table: FileTable, args: Args): BrokerReply {
  const file = table.get(args['file']);
  const { entries, identity } = readDirectory(file.fd);
  for (const [name, root] of table.rootsIn(file)) entries.push(entryOf(root.fd, name));
  return { value: { entries, identity } };
}

/** Runs `act`, which changes a place that is neither a granted directory nor a parent of one. */
function change(table: FileTable, args: Args, act: (place: Place) => void): BrokerReply {
  return table.at(args['dir'], args['path'], (place) => {
    table.assertWritable(place);
    if (place.isDirectoryItself) throw new BrokerRefusal('perm', 'the directory itself cannot be changed');
    if (table.containsRoot(place.guestPath))
      throw new BrokerRefusal('busy', 'it contains a granted directory');
    act(place);
    table.recordUse(`write ${place.guestPath}`);
    return NOTHING;
  });
}

/** Both ends must be in the same granted directory: each has its own quota, and in a jail its own mount. */
function changeTwo(table: FileTable, args: Args, act: (from: string, to: string) => void): BrokerReply {
  return change(table, args, (from) => {
    change(table, { dir: args['toDir'], path: args['toPath'] }, (to) => {
      if (from.root !== to.root) throw new BrokerRefusal('xdev', 'in another granted directory');
      act(from.path, to.path);
    });
  });
}

/** Runs `act` on a temporary handle. Refuses a link if it would have to be followed. */
function withHandle(
  table: FileTable,
  args: Args,
  act: (fd: number, place: Place) => BrokerReply,
): BrokerReply {
  return table.at(args['dir'], args['path'], (place) => {
    const fd = openSync(place.path, O_PATH | (place.isDirectoryItself ? 0 : O_NOFOLLOW));
    try {
      if (args['followLast'] === true && fstatSync(fd).isSymbolicLink())
        throw new BrokerRefusal('loop', 'links are not followed');
      return act(fd, place);
    } finally {
      closeSync(fd);
    }
  });
}

/** Refuses a target outside, which would reveal something about the host. */
function insideTarget(path: string): string {
  const target = readlinkSync(path);
  if (target.startsWith('/') || target.split('/').includes('..'))
    throw new BrokerRefusal('perm', 'the target is outside');
  return target;
}

function whole(value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw new BrokerRefusal('inval', 'bad number');
}
