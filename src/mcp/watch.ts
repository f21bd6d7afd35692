/**
 * Tells when something changes in folders that hold skills, also in those that do not exist yet. Many changes at once,
 * such as of an installation, are told once.
 *
 * @module
 */
import { statSync, watch, type FSWatcher } from 'node:fs';
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
    watcher = tryWatch(watched.path, watched.path === folder);
    watcher
      ?.on('error', () => undefined)
      .on('change', () => {
        const isAnother = nearestExisting(folder).identity !== watched.identity;
        if (isAnother) start();
        if (isAnother || watched.path === folder) changed();
      });
  };
  start();
  return () => watcher?.close();
}

interface Existing {
  path: string;
  /** A folder that was moved away and made anew is another, which the watcher of the first does not see. */
  identity: string;
}

function nearestExisting(path: string): Existing {
  try {
    const { dev, ino } = statSync(path);
    return { path, identity: `${path} ${dev}:${ino}` };
  } catch {
    return dirname(path) === path ? { path, identity: path } : nearestExisting(dirname(path));
  }
}

/** A folder that cannot be watched is only read when the server starts. */
function tryWatch(folder: string, recursive: boolean): FSWatcher | undefined {
  try {
    return watch(folder, { recursive, persistent: false });
  } catch {
    return undefined;
  }
}
