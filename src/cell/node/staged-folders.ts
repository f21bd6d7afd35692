/**
 * Folders that were staged for one version of what runs inside cells, and what becomes of those of other versions.
 * Several processes of several versions may share a home, so only what nobody used for a week is swept.
 *
 *     <home>/guest/<version>            code of cells
 *           /wasm/<binary>-<version>    binaries as that version installed them
 *           /js-wasm/<source>-<version> scripts as that version prepared them
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { readdirSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';

const UNUSED_MS = 7 * 24 * 60 * 60 * 1000;

/** Says that a folder is in use: at least whenever a cell is started from it. */
export function markInUse(folder: string): void {
  try {
    const now = new Date();
    utimesSync(folder, now, now);
  } catch {
    // Somebody else's folder: whoever may sweep it may mark it as well.
  }
}

/** Removes what belongs to other versions than this one and was not used for long. */
export function sweepOtherVersions(home: string, version: string): void {
  const isOther = {
    guest: (name: string): boolean => name !== version,
    wasm: (name: string): boolean => !name.endsWith(`-${version}`),
    'js-wasm': (name: string): boolean => !name.endsWith(`-${version}`),
  };
  for (const [place, isSwept] of Object.entries(isOther)) {
    const folder = join(home, place);
    for (const name of namesIn(folder)) if (isSwept(name)) sweep(join(folder, name));
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function sweep(folder: string): void {
  try {
    if (Date.now() - statSync(folder).mtimeMs < UNUSED_MS) return;
    // First out of the way: whoever looks for it finds all of it or nothing.
    const swept = `${folder}.${randomBytes(6).toString('hex')}`;
    renameSync(folder, swept);
    rmSync(swept, { recursive: true, force: true });
  } catch {
    // Another process was faster, or it is not ours to remove.
  }
}
