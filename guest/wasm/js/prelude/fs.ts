/**
 * `skillcell:fs`: reads files of the bundle and granted files. Relative paths start at the bundle.
 *
 * @module
 */
import { TextDecoder } from './encoding.ts';
import { ask, HostFailure, type HostAnswer } from './pending.ts';
import { asText } from './text.ts';

/** Node's codes for the same errors. */
const CODES: Readonly<Record<string, [code: string, text: string]>> = {
  noent: ['ENOENT', 'no such file or directory'],
  notdir: ['ENOTDIR', 'not a directory'],
  isdir: ['EISDIR', 'illegal operation on a directory'],
  inval: ['EINVAL', 'invalid argument'],
  loop: ['ELOOP', 'symbolic links are not followed'],
  nametoolong: ['ENAMETOOLONG', 'name too long'],
};

class FileError extends Error {
  readonly code: string;
  readonly path: string;

  constructor(failure: HostFailure, path: string) {
    const [code, text] = CODES[failure.code] ?? [`E${failure.code.toUpperCase()}`, failure.message];
    super(`${code}: ${text}, ${JSON.stringify(path)}`, { cause: failure });
    this.code = code;
    this.path = path;
  }
}

export interface DirectoryEntry {
  name: string;
  type: 'file' | 'directory' | 'other';
}

export interface FileFacts {
  type: DirectoryEntry['type'];
  size: number;
  /** Milliseconds since 1970. */
  modified: number;
}

export function readFile(path: string): Promise<Uint8Array>;
export function readFile(path: string, encoding: 'utf8'): Promise<string>;
export async function readFile(path: string, encoding?: 'utf8'): Promise<Uint8Array | string> {
  const { bytes = new Uint8Array() } = await about('readFile', path);
  return encoding === undefined ? bytes : new TextDecoder(encoding, { ignoreBOM: true }).decode(bytes);
}

/** Sorted by name. */
export async function readDir(path: string): Promise<DirectoryEntry[]> {
  return (await about('readDir', path)).value as DirectoryEntry[];
}

export async function stat(path: string): Promise<FileFacts> {
  return (await about('stat', path)).value as FileFacts;
}

async function about(name: string, where: unknown): Promise<HostAnswer> {
  const path = asText(where);
  try {
    return await ask(name, { path }).answer;
  } catch (error) {
    throw error instanceof HostFailure ? new FileError(error, path) : error;
  }
}
