/**
 * What a guest is told about files, and nothing else that the host knows of them.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { closeSync, constants, fdatasync, fstatSync, fsync, lstatSync, opendirSync, openSync } from 'node:fs';
import type { BigIntStats, Dirent } from 'node:fs';
import { promisify } from 'node:util';
import { BrokerRefusal, type BrokerReply } from '../cell/contract.ts';

const MAX_ENTRIES = 10_000;

export function statReply(fd: number): BrokerReply {
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

export interface ListedEntry {
  name: string;
  type: string;
  identity?: string;
}

/** Read one by one: a directory may hold more than fits the memory. */
export function readDirectory(fd: number): { entries: ListedEntry[]; identity: string } {
  const entries: ListedEntry[] = [];
  const directory = opendirSync(`/proc/self/fd/${fd}`, { encoding: 'buffer' as BufferEncoding });
  try {
    for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) {
      const name = nameOf(entry);
      if (name !== undefined) entries.push({ name, type: typeOf(entry), ...identityAt(fd, name) });
      if (entries.length > MAX_ENTRIES) throw new BrokerRefusal('overflow', 'too many entries');
    }
  } finally {
    directory.closeSync();
  }
  return { entries, identity: identityOf(fstatSync(fd, { bigint: true })) };
}

/** What is open, under the name that it has in a listing. */
export function entryOf(fd: number, name: string): ListedEntry {
  const stat = fstatSync(fd, { bigint: true });
  return { name, type: typeOf(stat), identity: identityOf(stat) };
}

/** Nothing for a file that has gone since it was listed. */
function identityAt(fd: number, name: string): { identity?: string } {
  const stat = lstatSync(`/proc/self/fd/${fd}/${name}`, { bigint: true, throwIfNoEntry: false });
  return stat ? { identity: identityOf(stat) } : {};
}

/** A name that is no UTF-8 cannot be said in WASI, and one that looks like it could be another file's. */
function nameOf({ name }: Dirent): string | undefined {
  const bytes = name as unknown as Buffer;
  const text = bytes.toString('utf8');
  return Buffer.from(text).equals(bytes) ? text : undefined;
}

/** With a descriptor of its own, and beside the event loop: a disk may take its time, and a call may end meanwhile. */
export async function syncToDisk(fd: number, dataOnly: boolean): Promise<void> {
  const own = openSync(`/proc/self/fd/${fd}`, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    await promisify(dataOnly ? fdatasync : fsync)(own);
  } finally {
    closeSync(own);
  }
}

const BILLION = 1_000_000_000n;
/** Node hands this through to the kernel as "leave it": reading a time and setting it again would lose its last digits. */
const KEEP = new Date(Number.NaN);

/** From `keep`, `now`, or nanoseconds since 1970, as Node takes it: seconds with a fraction. */
export function timeOf(change: unknown): number | Date {
  if (change === 'keep' || change === undefined) return KEEP;
  if (change === 'now') return Date.now() / 1000;
  if (typeof change !== 'string' || !/^\d{1,20}$/.test(change)) throw new BrokerRefusal('inval', 'bad time');
  return secondsOf(BigInt(change));
}

/**
 * The first fraction that is not before the time. Doubles of today lie 240 ns apart, and the kernel gets what is below
 * cut off: the next one before 0.123 s would be read as 0.122999 s.
 */
function secondsOf(nanoseconds: bigint): number {
  // In two parts: as one number the nanoseconds would be rounded first.
  const near = Number(nanoseconds / BILLION) + Number(nanoseconds % BILLION) / 1e9;
  const step = 2 ** (Math.floor(Math.log2(Math.max(near, 1))) - 52);
  const around = [near - step, near, near + step, near + 2 * step];
  return around.find((seconds) => isNotBefore(seconds, nanoseconds)) ?? near;
}

function isNotBefore(seconds: number, nanoseconds: bigint): boolean {
  const whole = Math.floor(seconds);
  return BigInt(whole) * BILLION + BigInt(Math.trunc((seconds - whole) * 1e9)) >= nanoseconds;
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

export function typeOf(entry: Typed): string {
  if (entry.isFile()) return 'regular-file';
  if (entry.isDirectory()) return 'directory';
  if (entry.isSymbolicLink()) return 'symbolic-link';
  if (entry.isFIFO()) return 'fifo';
  if (entry.isSocket()) return 'socket';
  if (entry.isBlockDevice()) return 'block-device';
  return entry.isCharacterDevice() ? 'character-device' : 'unknown';
}
