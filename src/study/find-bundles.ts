/**
 * Finds every bundle below a folder, without following links, up to a maximum depth and number of folders.
 *
 * @module
 */
import { readdirSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { SkillError } from '../errors.ts';

const MANIFESTS = new Set(['manifest.yaml', 'SKILL.md']);
const SKIPPED_FOLDERS = new Set(['node_modules', '__pycache__']);
const MAX_DEPTH = 6;
const MAX_FOLDERS = 20_000;

export interface FoundBundle {
  dir: string;
  /** Path relative to the folder, or `.` if the folder is the bundle itself. */
  path: string;
}

/** Sorted by path. A bundle inside another bundle is part of it. */
export function findBundles(folder: string, maxBundles: number): FoundBundle[] {
  const root = resolve(folder);
  if (!statSync(root, { throwIfNoEntry: false })?.isDirectory()) throw noFolder(folder);
  const found: FoundBundle[] = [];
  let waiting = [root];
  let visited = 0;
  for (let depth = 0; depth <= MAX_DEPTH && waiting.length > 0; depth++) {
    const next: string[] = [];
    for (const dir of waiting) {
      if (++visited > MAX_FOLDERS) throw tooMany(folder, `more than ${MAX_FOLDERS} folders`);
      const entries = readdirSync(dir, { withFileTypes: true });
      if (entries.some((entry) => entry.isFile() && MANIFESTS.has(entry.name)))
        found.push({ dir, path: relative(root, dir) || '.' });
      else next.push(...entries.filter(isSearched).map(({ name }) => join(dir, name)));
    }
    waiting = next;
  }
  if (found.length > maxBundles)
    throw tooMany(folder, `${found.length} bundles; the maximum is ${maxBundles}`);
  return found.sort((a, b) => (a.path < b.path ? -1 : 1));
}

function isSearched(entry: { name: string; isDirectory(): boolean }): boolean {
  return entry.isDirectory() && !entry.name.startsWith('.') && !SKIPPED_FOLDERS.has(entry.name);
}

function noFolder(folder: string): SkillError {
  return new SkillError('usage', `"${folder}" is not a folder`, {
    fix: 'Pass a folder that contains skills.',
  });
}

function tooMany(folder: string, what: string): SkillError {
  return new SkillError('usage', `The folder "${folder}" has ${what}`, {
    fix: 'Pass a folder with fewer skills.',
  });
}
