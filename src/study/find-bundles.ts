/**
 * Every bundle below a folder, without following links and within bounds.
 *
 * @module
 */
import { readdirSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { SkillError } from '../errors.ts';

const MANIFESTS = new Set(['manifest.yaml', 'SKILL.md']);
const NOT_LOOKED_INTO = new Set(['node_modules', '__pycache__']);
const MAX_DEPTH = 6;
const MAX_FOLDERS = 20_000;

export interface FoundBundle {
  dir: string;
  /** Its path below the folder, or the name of the folder when that is the bundle itself. */
  path: string;
}

/** Sorted by path. A bundle inside of a bundle belongs to it. */
export function findBundles(folder: string, most: number): FoundBundle[] {
  const root = resolve(folder);
  if (!statSync(root, { throwIfNoEntry: false })?.isDirectory()) throw noFolder(folder);
  const found: FoundBundle[] = [];
  let waiting = [root];
  let looked = 0;
  for (let depth = 0; depth <= MAX_DEPTH && waiting.length > 0; depth++) {
    const next: string[] = [];
    for (const dir of waiting) {
      if (++looked > MAX_FOLDERS) throw tooMany(folder, `more than ${MAX_FOLDERS} folders`);
      const entries = readdirSync(dir, { withFileTypes: true });
      if (entries.some((entry) => entry.isFile() && MANIFESTS.has(entry.name)))
        found.push({ dir, path: relative(root, dir) || '.' });
      else next.push(...entries.filter(isLookedInto).map(({ name }) => join(dir, name)));
    }
    waiting = next;
  }
  if (found.length > most) throw tooMany(folder, `${found.length} bundles, and the most is ${most}`);
  return found.sort((a, b) => (a.path < b.path ? -1 : 1));
}

function isLookedInto(entry: { name: string; isDirectory(): boolean }): boolean {
  return entry.isDirectory() && !entry.name.startsWith('.') && !NOT_LOOKED_INTO.has(entry.name);
}

function noFolder(folder: string): SkillError {
  return new SkillError('usage', `"${folder}" is no folder`, {
    fix: 'Give a folder with skills in it, such as skills.',
  });
}

function tooMany(folder: string, what: string): SkillError {
  return new SkillError('usage', `The folder "${folder}" has ${what}`, { fix: 'Give a smaller folder.' });
}
