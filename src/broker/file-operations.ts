/**
 * What a guest can ask for about files. Arguments come from the guest, so every one is checked.
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
  // A link that a guest makes could lead a later, more trusting reader out of the directory.
  symlinkAt: (table, args) =>
    change(table, args, ({ shown }) => {
      table.noteDenial(`link ${shown}`, 'no cell makes symbolic links');
      throw new BrokerRefusal('perm', 'symbolic links are not made');
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
  demandRoom(file, { before: size, after: position + bytes.length });
  const written = writeSync(file.fd, bytes, 0, bytes.length, position);
  takeRoom(file, position + written - size);
  return { value: { written } };
}

/** The kernel finds the end: others may write to the same file. */
function append(table: FileTable, args: Args, bytes: Uint8Array): BrokerReply {
  const file = openForWriting(table, args);
  const { size } = fstatSync(file.fd);
  demandRoom(file, { before: size, after: size + bytes.length });
  const fd = openSync(`/proc/self/fd/${file.fd}`, O_WRONLY | O_APPEND);
  try {
    const written = writeSync(fd, bytes, 0, bytes.length);
    takeRoom(file, written);
    return { value: { written } };
  } finally {
    closeSync(fd);
  }
}

/** The quota of a path counts what a call adds; what it frees is not given back. */
function demandRoom({ root }: OpenFile, { before, after }: { before: number; after: number }): void {
  if (after - before > root.room) throw new BrokerRefusal('nospc', 'beyond max_bytes of the grant');
  // As in a jail, where the kernel says so.
  if (after > LARGEST_FILE_BYTES && after > before)
    throw new BrokerRefusal('fbig', 'larger than any file of a cell');
}

function takeRoom({ root }: OpenFile, growth: number): void {
  root.room -= Math.max(0, growth);
}

function openForWriting(table: FileTable, args: Args): OpenFile {
  const file = table.get(args['file']);
  table.demandWritable(file);
  if (!file.writable) throw new BrokerRefusal('badf', 'not opened for writing');
  return file;
}

function setSize(table: FileTable, args: Args): BrokerReply {
  const file = openForWriting(table, args);
  const size = whole(args['size']);
  const before = fstatSync(file.fd).size;
  demandRoom(file, { before, after: size });
  ftruncateSync(file.fd, size);
  takeRoom(file, size - before);
  return NOTHING;
}

function setTimes(table: FileTable, file: OpenFile, args: Args): BrokerReply {
  table.demandWritable(file);
  const [accessed, modified] = [timeOf(args['accessed']), timeOf(args['modified'])];
  // Through /proc: a handle on a name only has no other way to be changed.
  utimesSync(`/proc/self/fd/${file.fd}`, accessed, modified);
  return NOTHING;
}

function setTimesAt(table: FileTable, args: Args): BrokerReply {
  return withHandle(table, { ...args, followLast: true }, (fd, { root, shown }) =>
    setTimes(table, { fd, root, shown, writable: true }, args),
  );
}

function readDir(table: FileTable, args: Args): BrokerReply {
  const file = table.get(args['file']);
  const { entries, identity } = readDirectory(file.fd);
  for (const [name, held] of table.heldBy(file)) entries.push(entryOf(held.fd, name));
  return { value: { entries, identity } };
}

/** Runs `act` for something that changes at a place, which is none of the granted directories nor the way to one. */
function change(table: FileTable, args: Args, act: (place: Place) => void): BrokerReply {
  return table.at(args['dir'], args['path'], (place) => {
    table.demandWritable(place);
    if (place.isDirectoryItself) throw new BrokerRefusal('perm', 'the directory itself stays');
    if (table.leadsToRoot(place.shown)) throw new BrokerRefusal('busy', 'a granted directory lies there');
    act(place);
    table.noteUse(`write ${place.shown}`);
    return NOTHING;
  });
}

/** Both ends in the same granted directory: quotas are counted for each, and a jail has a mount for each. */
function changeTwo(table: FileTable, args: Args, act: (from: string, to: string) => void): BrokerReply {
  return change(table, args, (from) => {
    change(table, { dir: args['toDir'], path: args['toPath'] }, (to) => {
      if (from.root !== to.root) throw new BrokerRefusal('xdev', 'in another granted directory');
      act(from.path, to.path);
    });
  });
}

/** Runs `act` on a handle of what is at a place, which is closed again. A link is refused if it is to be followed. */
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

/** A target outside would tell the guest about the host. */
function insideTarget(path: string): string {
  const target = readlinkSync(path);
  if (target.startsWith('/') || target.split('/').includes('..'))
    throw new BrokerRefusal('perm', 'leads outside');
  return target;
}

function whole(value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw new BrokerRefusal('inval', 'bad number');
}
