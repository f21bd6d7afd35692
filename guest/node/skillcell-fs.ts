/**
 * `skillcell:fs`, as in a Wasm cell, on top of Node's own file functions. Relative paths start at the bundle.
 *
 * @module
 */
import { lstat, readFile as readWhole, readdir } from 'node:fs/promises';
import { resolve } from 'node:path';

/** Each bundle has its own instance of this module; see `resolve.ts`. */
const bundle = new URL(import.meta.url).searchParams.get('bundle') ?? '/skill';

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
  const bytes = await readWhole(placeOf(path));
  return encoding === undefined ? new Uint8Array(bytes) : bytes.toString(encoding);
}

/** Sorted by name. */
export async function readDir(path: string): Promise<DirectoryEntry[]> {
  const entries = await readdir(placeOf(path), { withFileTypes: true });
  return entries
    .map((entry) => ({ name: entry.name, type: typeOf(entry) }))
    .toSorted((left, right) => (left.name < right.name ? -1 : 1));
}

export async function stat(path: string): Promise<FileFacts> {
  const facts = await lstat(placeOf(path));
  return { type: typeOf(facts), size: facts.size, modified: Math.floor(facts.mtimeMs) };
}

function placeOf(path: string): string {
  return resolve(bundle, path);
}

function typeOf(entry: { isFile(): boolean; isDirectory(): boolean }): DirectoryEntry['type'] {
  if (entry.isFile()) return 'file';
  return entry.isDirectory() ? 'directory' : 'other';
}
