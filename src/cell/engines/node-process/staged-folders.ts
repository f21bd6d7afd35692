/**
 * Folders that were staged for one version of the guest code, and the removal of those of other versions. Processes of
 * several versions may share a home, so only folders that were not used for a week are removed.
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

/** Marks a folder as used. Call it at least whenever a cell starts from the folder. */
export function markInUse(folder: string): void {
  try {
    const now = new Date();
    utimesSync(folder, now, now);
  } catch {
    // The folder belongs to another user, who marks and sweeps it.
  }
}

/** Removes folders of other versions that were not used for a week. */
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
    // Renamed first, so that other processes see the whole folder or none.
    const swept = `${folder}.${randomBytes(6).toString('hex')}`;
    renameSync(folder, swept);
    rmSync(swept, { recursive: true, force: true });
  } catch {
    // Another process was faster, or the folder belongs to another user.
  }
}
