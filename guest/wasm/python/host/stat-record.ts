/**
 * `struct stat`, `struct dirent` and `struct statfs` as the engine's C library lays them out.
 *
 * @module
 */
import type { GuestMemory } from '../../imaged/guest-memory.ts';
import type { DirectoryItem, NodeStat, NodeType } from '../files/contract.ts';

const STAT_BYTES = 96;
const BLOCK_BYTES = 4096;
const SECTOR_BYTES = 512;
const NANOSECONDS_PER_MS = 1_000_000;
const MODES: Readonly<Record<NodeType, number>> = {
  file: 0o100_000,
  directory: 0o040_000,
  device: 0o020_000,
  link: 0o120_000,
};
/** Values of `d_type`. */
const ENTRY_TYPES: Readonly<Record<NodeType, number>> = { file: 8, directory: 4, device: 2, link: 10 };
export const DIRENT_BYTES = 280;
const NAME_BYTES = 256;
const STATFS_BYTES = 64;

export const GUEST_ID = 65_534;

export function writeStat(memory: GuestMemory, address: number, stat: NodeStat): void {
  const record = memory.slice(address, STAT_BYTES).fill(0);
  const view = new DataView(record.buffer, record.byteOffset, STAT_BYTES);
  const permissions = stat.type === 'directory' ? 0o555 : 0o444;
  view.setUint32(0, 1, true);
  view.setUint32(4, MODES[stat.type] | permissions | (stat.writable ? 0o200 : 0), true);
  view.setUint32(8, 1, true);
  view.setUint32(12, GUEST_ID, true);
  view.setUint32(16, GUEST_ID, true);
  view.setBigInt64(24, BigInt(stat.size), true);
  view.setInt32(32, BLOCK_BYTES, true);
  view.setInt32(36, Math.ceil(stat.size / SECTOR_BYTES), true);
  const seconds = BigInt(Math.floor(stat.modified / 1000));
  const rest = Math.floor((stat.modified % 1000) * NANOSECONDS_PER_MS);
  for (const offset of [40, 56, 72]) {
    view.setBigInt64(offset, seconds, true);
    view.setInt32(offset + 8, rest, true);
  }
  view.setBigUint64(88, stat.identity, true);
}

export interface ListedItem extends DirectoryItem {
  /** Position in the listing. */
  place: number;
}

export function writeEntry(memory: GuestMemory, address: number, item: ListedItem): void {
  const record = memory.slice(address, DIRENT_BYTES).fill(0);
  const view = new DataView(record.buffer, record.byteOffset, DIRENT_BYTES);
  view.setBigUint64(0, item.identity, true);
  view.setBigInt64(8, BigInt(item.place), true);
  view.setUint16(16, DIRENT_BYTES, true);
  view.setUint8(18, ENTRY_TYPES[item.type]);
  const name = new TextEncoder().encode(item.name).subarray(0, NAME_BYTES - 1);
  record.set(name, 19);
}

/** A file system of unspecified size. */
export function writeFileSystem(memory: GuestMemory, address: number): void {
  const record = memory.slice(address, STATFS_BYTES).fill(0);
  const view = new DataView(record.buffer, record.byteOffset, STATFS_BYTES);
  view.setInt32(4, BLOCK_BYTES, true);
  view.setInt32(40, BLOCK_BYTES, true);
  view.setInt32(36, NAME_BYTES - 1, true);
}
