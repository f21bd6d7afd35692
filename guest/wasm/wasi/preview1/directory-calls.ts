/**
 * The system call that lists a directory.
 *
 * @module
 */
import { BrokerError, type DirectoryEntry } from '../broker-client.ts';
import { inodeOf } from './descriptor-calls.ts';
import { u32, u64 } from './memory.ts';
import { type Descriptor, fileTypeNumber, type Preview1Process, type SystemCalls } from './process.ts';

const DIRENT_BYTES = 24;

export function directoryCalls(): SystemCalls {
  return { fd_readdir: { suspends: true, run: readDirectory } };
}

async function readDirectory(process: Preview1Process, args: unknown[]): Promise<void> {
  const [fd, buffer, length, cookie, out] = args;
  const descriptor = process.descriptor(u32(fd));
  const room = process.memory.bytes(u32(buffer), u32(length)).length;
  const start = u64(cookie);
  const listing = await listingOf(descriptor, start === 0n);
  const bytes = encodeEntries(listing, start, room);
  process.memory.writeBytes(u32(buffer), bytes);
  process.memory.writeU32(u32(out), bytes.length);
}

/** Cached after the first read, because entry numbers must not change while a program walks. */
async function listingOf(descriptor: Descriptor, fresh: boolean): Promise<DirectoryEntry[]> {
  if (descriptor.node?.isDirectory !== true) throw new BrokerError('notdir');
  if (!fresh && descriptor.listing !== undefined) return descriptor.listing;
  const { entries, identity } = await descriptor.node.list();
  const self: DirectoryEntry = {
    name: '.',
    type: 'directory',
    ...(identity === undefined ? {} : { identity }),
  };
  descriptor.listing = [self, { name: '..', type: 'directory' }, ...entries];
  return descriptor.listing;
}

/** As many entries as fit; the last one may be truncated, which tells the program to ask for more. */
function encodeEntries(listing: DirectoryEntry[], start: bigint, room: number): Uint8Array {
  const parts: Uint8Array[] = [];
  let length = 0;
  for (let index = start; index < BigInt(listing.length) && length < room; index += 1n) {
    const entry = listing[Number(index)];
    if (entry === undefined) break;
    const part = encodeEntry(entry, index + 1n);
    parts.push(part);
    length += part.length;
  }
  return Buffer.concat(parts).subarray(0, room);
}

function encodeEntry(entry: DirectoryEntry, next: bigint): Uint8Array {
  const name = Buffer.from(entry.name);
  const bytes = Buffer.alloc(DIRENT_BYTES + name.length);
  bytes.writeBigUInt64LE(next, 0);
  // A C library looks up an entry again if its number is zero.
  if (entry.identity !== undefined) bytes.writeBigUInt64LE(inodeOf(entry.identity), 8);
  bytes.writeUInt32LE(name.length, 16);
  bytes.writeUInt8(fileTypeNumber(entry.type), 20);
  name.copy(bytes, DIRENT_BYTES);
  return bytes;
}
