/**
 * What a guest can ask for about files. Arguments come from the guest, so every one is checked.
 *
 * @module
 */
import {
  closeSync,
  constants,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  renameSync,
  rmdirSync,
  unlinkSync,
  utimesSync,
  writeSync,
  type BigIntStats,
} from 'node:fs';
import { createHash } from 'node:crypto';
import { BrokerRefusal, type BrokerReply } from '../cell/contract.ts';
import type { FileTable, OpenFile } from './file-table.ts';

const MAX_READ_BYTES = 1024 * 1024;
const MAX_ENTRIES = 10_000;
const NEW_FILE_MODE = 0o644;
const NEW_FOLDER_MODE = 0o755;
const { O_RDONLY, O_RDWR, O_CREAT, O_EXCL, O_TRUNC, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants;
/** Linux O_PATH: a handle on the name only. Node does not export it. */
const O_PATH = 0o10000000;
const NOTHING: BrokerReply = { value: {} };

type Args = Record<string, unknown>;
type Operation = (table: FileTable, args: Args, bytes: Uint8Array) => BrokerReply;

export const FILE_OPERATIONS: Readonly<Record<string, Operation>> = Object.freeze({
  __proto__: null as never,
  open,
  read,
  write: (table, args, bytes) => write(table, args, { bytes, position: offset(args['offset']) }),
  append: (table, args, bytes) => write(table, args, { bytes, position: undefined }),
  stat: (table, args) => statReply(table.get(args['file']).fd),
  statAt: (table, args) => at(table, args, (place) => withPlace(place, O_NOFOLLOW, statReply)),
  setSize,
  setTimes: (table, args) => setTimes(table, table.get(args['file']), args),
  setTimesAt: (table, args) => {
    const dir = table.get(args['dir']);
    return table.at(dir, args['path'], (place, shown) =>
      withPlace(place, O_NOFOLLOW, (fd) => setTimes(table, { ...dir, fd, shown }, args)),
    );
  },
  sync,
  readDir,
  mkdirAt: (table, args) => change(table, args, (place) => mkdirSync(place, { mode: NEW_FOLDER_MODE })),
  rmdirAt: (table, args) => change(table, args, (place) => rmdirSync(place)),
  unlinkAt: (table, args) => change(table, args, (place) => unlinkSync(place)),
  renameAt: (table, args) => changeTwo(table, args, renameSync),
  linkAt: (table, args) => changeTwo(table, args, linkSync),
  readlinkAt: (table, args) =>
    at(table, args, (place) => ({ value: { target: insideTarget(readlinkSync(place)) } })),
  // A link that a guest makes could lead a later, more trusting reader out of the directory.
  symlinkAt: (table, args) =>
    change(table, args, () => {
      throw new BrokerRefusal('perm', 'symbolic links are not made');
    }),
  close: (table, args) => (table.closeFile(args['file']), NOTHING),
});

function open(table: FileTable, args: Args): BrokerReply {
  const dir = table.get(args['dir']);
  const wanted = openFlags(args['flags']);
  return table.at(dir, args['path'], (place, shown) => {
    if (wanted.writes) table.demandWritable(dir, shown);
    // Not followed, whatever the guest says: a link inside is refused rather than judged.
    const fd = openSync(place, wanted.flags | noFollow(place) | O_NONBLOCK, NEW_FILE_MODE);
    const stat = fstatSync(fd, { bigint: true });
    if (!stat.isFile() && !stat.isDirectory()) {
      closeSync(fd);
      throw new BrokerRefusal('perm', 'only files and directories are opened');
    }
    const file = table.add({ fd, root: dir.root, shown, writable: wanted.writes });
    return { value: { file, type: typeOf(stat), size: Number(stat.size) } };
  });
}

interface WantedFlags {
  flags: number;
  writes: boolean;
}

function openFlags(given: unknown): WantedFlags {
  const flags = typeof given === 'object' && given !== null ? (given as Args) : {};
  const on = (name: string): boolean => flags[name] === true;
  const writes = on('write') || on('create') || on('truncate');
  return {
    writes,
    flags:
      (on('write') ? O_RDWR : O_RDONLY) |
      (on('create') ? O_CREAT : 0) |
      (on('exclusive') ? O_EXCL : 0) |
      (on('truncate') ? O_TRUNC : 0) |
      (on('directory') ? O_DIRECTORY : 0),
  };
}

function read(table: FileTable, args: Args): BrokerReply {
  const file = table.get(args['file']);
  const length = Math.min(offset(args['length']), MAX_READ_BYTES);
  const buffer = Buffer.allocUnsafe(length);
  const count = readSync(file.fd, buffer, 0, length, offset(args['offset']));
  return { value: {}, payload: buffer.subarray(0, count) };
}

function write(
  table: FileTable,
  args: Args,
  what: { bytes: Uint8Array; position: number | undefined },
): BrokerReply {
  const file = demandOpenForWriting(table, args);
  const position = what.position ?? fstatSync(file.fd).size;
  const grows = Math.max(0, position + what.bytes.length - fstatSync(file.fd).size);
  takeRoom(file, grows);
  return { value: { written: writeSync(file.fd, what.bytes, 0, what.bytes.length, position) } };
}

/** The quota of a path counts what a call adds; what it frees is not given back. */
function takeRoom({ root }: OpenFile, bytes: number): void {
  if (bytes > root.room) throw new BrokerRefusal('nospc', 'beyond max_bytes of the grant');
  root.room -= bytes;
}

function demandOpenForWriting(table: FileTable, args: Args): OpenFile {
  const file = table.get(args['file']);
  table.demandWritable(file, file.shown);
  if (!file.writable) throw new BrokerRefusal('badf', 'not opened for writing');
  return file;
}

function setSize(table: FileTable, args: Args): BrokerReply {
  const file = demandOpenForWriting(table, args);
  const size = offset(args['size']);
  takeRoom(file, Math.max(0, size - fstatSync(file.fd).size));
  ftruncateSync(file.fd, size);
  return NOTHING;
}

function setTimes(table: FileTable, file: OpenFile, args: Args): BrokerReply {
  table.demandWritable(file, file.shown);
  const stat = fstatSync(file.fd);
  // Through /proc: a handle on the name alone cannot be changed by itself.
  const place = `/proc/self/fd/${file.fd}`;
  utimesSync(place, timeOf(args['accessed'], stat.atimeMs), timeOf(args['modified'], stat.mtimeMs));
  return NOTHING;
}

/** Seconds, from `keep`, `now`, or nanoseconds since 1970. */
function timeOf(change: unknown, keptMs: number): number {
  if (change === 'keep' || change === undefined) return keptMs / 1000;
  if (change === 'now') return Date.now() / 1000;
  if (typeof change !== 'string' || !/^\d{1,20}$/.test(change)) throw new BrokerRefusal('inval', 'bad time');
  return Number(BigInt(change) / 1000n) / 1_000_000;
}

function sync(table: FileTable, args: Args): BrokerReply {
  const { fd } = table.get(args['file']);
  if (args['dataOnly'] === true) fdatasyncSync(fd);
  else fsyncSync(fd);
  return NOTHING;
}

function readDir(table: FileTable, args: Args): BrokerReply {
  const { fd } = table.get(args['file']);
  const folder = `/proc/self/fd/${fd}`;
  const entries = readdirSync(folder, { withFileTypes: true });
  if (entries.length > MAX_ENTRIES) throw new BrokerRefusal('overflow', 'too many entries');
  const listed = entries.map((entry) => ({
    name: entry.name,
    type: typeOf(entry),
    ...identityAt(folder, entry.name),
  }));
  return { value: { entries: listed, identity: identityOf(fstatSync(fd, { bigint: true })) } };
}

function at(table: FileTable, args: Args, act: (place: string) => BrokerReply): BrokerReply {
  return table.at(table.get(args['dir']), args['path'], act);
}

function change(table: FileTable, args: Args, act: (place: string) => void): BrokerReply {
  const dir = table.get(args['dir']);
  return table.at(dir, args['path'], (place, shown) => {
    table.demandWritable(dir, shown);
    if (shown === dir.shown) throw new BrokerRefusal('perm', 'the granted directory itself stays');
    act(place);
    return NOTHING;
  });
}

/** Both ends have to be writable, and neither may be a granted directory itself. */
function changeTwo(table: FileTable, args: Args, act: (from: string, to: string) => void): BrokerReply {
  return change(table, args, (from) => {
    change(table, { dir: args['toDir'], path: args['toPath'] }, (to) => act(from, to));
  });
}

/** A handle of ours is reached through a link of /proc; every other link stays what it is. */
function noFollow(place: string): number {
  return /^\/proc\/self\/fd\/\d+$/.test(place) ? 0 : O_NOFOLLOW;
}

/** Runs `act` on a descriptor of the file at a place, which is closed again. */
function withPlace(place: string, flags: number, act: (fd: number) => BrokerReply): BrokerReply {
  const fd = openSync(place, O_PATH | (flags & noFollow(place)));
  try {
    return act(fd);
  } finally {
    closeSync(fd);
  }
}

function statReply(fd: number): BrokerReply {
  const stat = fstatSync(fd, { bigint: true });
  return {
    value: {
      type: typeOf(stat),
      size: Number(stat.size),
      links: Number(stat.nlink),
      accessed: String(stat.atimeNs),
      modified: String(stat.mtimeNs),
      changed: String(stat.ctimeNs),
      identity: identityOf(stat),
    },
  };
}

/** The same for the same file, and no inode number of the host. */
function identityOf({ dev, ino }: BigIntStats): string {
  return createHash('sha256').update(`${dev}:${ino}`).digest('hex').slice(0, 32);
}

/** Nothing for a file that has gone since it was listed. */
function identityAt(folder: string, name: string): { identity?: string } {
  const stat = lstatSync(`${folder}/${name}`, { bigint: true, throwIfNoEntry: false });
  return stat ? { identity: identityOf(stat) } : {};
}

interface Typed {
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
  isFIFO(): boolean;
  isSocket(): boolean;
  isBlockDevice(): boolean;
  isCharacterDevice(): boolean;
}

function typeOf(entry: Typed): string {
  if (entry.isFile()) return 'regular-file';
  if (entry.isDirectory()) return 'directory';
  if (entry.isSymbolicLink()) return 'symbolic-link';
  if (entry.isFIFO()) return 'fifo';
  if (entry.isSocket()) return 'socket';
  if (entry.isBlockDevice()) return 'block-device';
  return entry.isCharacterDevice() ? 'character-device' : 'unknown';
}

/** A target outside would tell the guest about the host. */
function insideTarget(target: string): string {
  if (target.startsWith('/') || target.split('/').includes('..'))
    throw new BrokerRefusal('perm', 'leads outside');
  return target;
}

function offset(value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw new BrokerRefusal('inval', 'bad number');
}
