/**
 * Tells when something changes in folders that hold skills, also in those that do not exist yet. Many changes at once,
 * such as of an installation, are told once.
 *
 * @module
 */
import { existsSync, watch, type FSWatcher } from 'node:fs';
import { dirname } from 'node:path';

const QUIET_MS = 300;

/** Returns how to stop it. */
export function watchFolders(folders: readonly string[], onChange: () => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  const changed = (): void => {
    clearTimeout(timer);
    timer = setTimeout(onChange, QUIET_MS).unref();
  };
  const stops = [...new Set(folders)].map((folder) => watchFolder(folder, changed));
  return () => {
    for (const stop of stops) stop();
    clearTimeout(timer);
  };
}

/** The folder with all below it; while it does not exist, the nearest one above, where it may appear. */
function watchFolder(folder: string, changed: () => void): () => void {
  let watcher: FSWatcher | undefined;
  const start = (): void => {
    watcher?.close();
    const watched = nearestExisting(folder);
    watcher = tryWatch(watched, watched === folder);
    watcher
      ?.on('error', () => undefined)
      .on('change', () => {
        const hasMoved = nearestExisting(folder) !== watched;
        if (hasMoved) start();
        if (hasMoved || watched === folder) changed();
      });
  };
  start();
  return () => watcher?.close();
}

function nearestExisting(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : nearestExisting(dirname(folder));
}

/** A folder that cannot be watched is only read when the server starts. */
function tryWatch(folder: string, recursive: boolean): FSWatcher | undefined {
  try {
    return watch(folder, { recursive, persistent: false });
  } catch {
    return undefined;
  }
}
