/**
 * Guest paths, as segments below a directory handle. No symbolic link is ever followed, so resolving
 * `..` here is the same as walking there and back.
 *
 * @module
 */
import { BrokerError } from '../broker-client.ts';

const MAX_PATH = 4096;
const MAX_SEGMENT = 255;

export interface GuestPath {
  segments: string[];
  /** The path ended in `/`, `.` or `..`: it can only mean a directory. */
  directory: boolean;
}

/** Throws BrokerError for anything that is not a path below a directory. */
export function parsePath(path: string): GuestPath {
  if (path === '') throw new BrokerError('noent', 'The path is empty');
  if (path.length > MAX_PATH) throw new BrokerError('nametoolong', 'The path is too long');
  // A backslash is a separator on some hosts and a plain character on others; no skill needs it.
  if (path.includes('\0') || path.includes('\\'))
    throw new BrokerError('inval', 'The path has a forbidden character');
  if (path.startsWith('/')) throw new BrokerError('perm', 'The path is absolute');
  const segments: string[] = [];
  let directory = false;
  for (const part of path.split('/')) {
    directory = part === '' || part === '.' || part === '..';
    if (part === '..') leave(segments);
    else if (!directory) enter(segments, part);
  }
  return { segments, directory };
}

function leave(segments: string[]): void {
  if (segments.pop() === undefined) throw new BrokerError('perm', 'The path leaves its directory');
}

function enter(segments: string[], part: string): void {
  if (Buffer.byteLength(part) > MAX_SEGMENT)
    throw new BrokerError('nametoolong', 'A part of the path is too long');
  segments.push(part);
}
