/**
 * Reports changes in folders of skills, including folders that do not exist yet. Many changes in a row, such as those of an
 * installation, are reported once.
 *
 * @module
 */
import { statSync, watch, type FSWatcher } from 'node:fs';
import { dirname } from 'node:path';

const QUIET_MS = 300;

/** Returns a function that stops watching. */
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

/** Watches the folder recursively; while it does not exist, the nearest existing parent. */
function watchFolder(folder: string, changed: () => void): () => void {
  let watcher: FSWatcher | undefined;
  const start = (): void => {
    watcher?.close();
    const watched = nearestExisting(folder);
    watcher = tryWatch(watched.path, watched.path === folder);
    watcher
      ?.on('error', () => undefined)
      .on('change', () => {
        const hasMoved = nearestExisting(folder).identity !== watched.identity;
        if (hasMoved) start();
        if (hasMoved || watched.path === folder) changed();
      });
  };
  start();
  return () => watcher?.close();
}

interface Existing {
  path: string;
  /** Includes the inode: the watcher of a folder that was moved away does not see a new folder at the same path. */
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

/** A folder that cannot be watched is read only when the server starts. */
function tryWatch(folder: string, recursive: boolean): FSWatcher | undefined {
  try {
    return watch(folder, { recursive, persistent: false });
  } catch {
    return undefined;
  }
}
