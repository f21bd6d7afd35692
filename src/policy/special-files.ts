/**
 * Warns about sockets and named pipes in granted folders: a cell may be able to talk to the programs behind them, even if
 * it may only read. Best effort, since one that is created later is not noticed.
 *
 * @module
 */
import { opendirSync, type Dirent } from 'node:fs';
import { join } from 'node:path';
import type { GrantedPath } from './grant.ts';

/** Number of entries that are examined in all folders together. */
const MAX_ENTRIES = 5000;
const MAX_NAMED = 3;

/** One warning, or none. */
export function specialFileWarnings(paths: readonly GrantedPath[]): string[] {
  const found = specialFiles(paths.filter(({ isFile, isPin }) => !isFile && !isPin).map(({ host }) => host));
  if (found.length === 0) return [];
  const named = found.slice(0, MAX_NAMED).map((path) => JSON.stringify(path));
  const more = found.length > named.length ? ` and ${found.length - named.length} more` : '';
  return [
    `Granted folders contain sockets or named pipes, which a read-only grant does not block: ${named.join(', ')}${more}. ` +
      'Grant a folder without them.',
  ];
}

/** Breadth first, so that a deep folder does not use up the budget. */
function specialFiles(folders: string[]): string[] {
  const found: string[] = [];
  const queue = [...folders];
  let left = MAX_ENTRIES;
  for (let folder = queue.shift(); folder !== undefined && left > 0; folder = queue.shift()) {
    for (const entry of entriesOf(folder, left)) {
      left--;
      const path = join(folder, entry.name);
      if (entry.isSocket() || entry.isFIFO()) found.push(path);
      else if (entry.isDirectory()) queue.push(path);
    }
  }
  return found;
}

/** At most so many: a command can create more names than fit into memory. */
function entriesOf(folder: string, most: number): Dirent[] {
  const found: Dirent[] = [];
  try {
    using names = opendirSync(folder);
    for (let entry = names.readSync(); entry !== null && found.length < most; entry = names.readSync())
      found.push(entry);
  } catch {
    // An unreadable folder cannot be checked.
  }
  return found;
}
