/**
 * Metadata of files for guests, limited to what a guest may know.
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

/** Equal for the same file, without revealing the inode number of the host. */
function identityOf({ dev, ino }: BigIntStats): string {
  return createHash('sha256').update(`${dev}:${ino}`).digest('hex').slice(0, 32);
}

export interface ListedEntry {
  name: string;
  type: string;
  identity?: string;
}

/** Reads entries one by one, because a directory may hold more than fits into memory. */
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

/** An open file as an entry of a listing. */
export function entryOf(fd: number, name: string): ListedEntry {
  const stat = fstatSync(fd, { bigint: true });
  return { name, type: typeOf(stat), identity: identityOf(stat) };
}

/** Empty for a file that was removed after it was listed. */
function identityAt(fd: number, name: string): { identity?: string } {
  const stat = lstatSync(`/proc/self/fd/${fd}/${name}`, { bigint: true, throwIfNoEntry: false });
  return stat ? { identity: identityOf(stat) } : {};
}

/** Undefined for a name that is not UTF-8: WASI cannot express it, and a lossy one could be another file's name. */
function nameOf({ name }: Dirent): string | undefined {
  const bytes = name as unknown as Buffer;
  const text = bytes.toString('utf8');
  return Buffer.from(text).equals(bytes) ? text : undefined;
}

/** Uses its own descriptor and does not block: a disk may be slow, and the call may end before it is done. */
export async function syncToDisk(fd: number, dataOnly: boolean): Promise<void> {
  const own = openSync(`/proc/self/fd/${fd}`, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    await promisify(dataOnly ? fdatasync : fsync)(own);
  } finally {
    closeSync(own);
  }
}

const BILLION = 1_000_000_000n;
/** Node passes this to the kernel as "leave unchanged"; reading a time and setting it again would lose its last digits. */
const KEEP = new Date(Number.NaN);

/** Converts `keep`, `now`, or nanoseconds since 1970 to what Node expects: seconds with a fraction. */
export function timeOf(change: unknown): number | Date {
  if (change === 'keep' || change === undefined) return KEEP;
  if (change === 'now') return Date.now() / 1000;
  if (typeof change !== 'string' || !/^\d{1,20}$/.test(change)) throw new BrokerRefusal('inval', 'bad time');
  return secondsOf(BigInt(change));
}

/**
 * The first fraction that is not before the time. Doubles near today are 240 ns apart, and the conversion for the kernel
 * truncates: the double just before 0.123 s would become 0.122999 s.
 */
function secondsOf(nanoseconds: bigint): number {
  // Convert in two parts, because one number of nanoseconds would be rounded first.
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
