/**
 * Node's own cache of compiled modules, in a folder that nobody but this user can write: what is read
 * from it runs, so the shared default under the temporary folder will not do.
 *
 * @module
 */
import { lstatSync, mkdirSync, statSync } from 'fs';
import module from 'module';
import { userInfo } from 'os';
import { isAbsolute, join } from 'path';

/** Starts the cache; without a safe folder for it, starting is slower and nothing else changes. */
export function useCompileCache() {
  try {
    const parent = cacheHome();
    const own = join(parent, 'skillcell');
    const folder = join(own, 'compiled');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const safe = statSync(parent).uid === process.getuid() && isPrivate(own) && isPrivate(folder);
    if (safe) module.enableCompileCache(folder);
  } catch {
    // A read-only or absent home: the cache is a comfort, never a need.
  }
}

/** The home of the account, not `$HOME`: under sudo that may still be somebody else's. */
function cacheHome() {
  const chosen = process.env.XDG_CACHE_HOME;
  return chosen !== undefined && isAbsolute(chosen) ? chosen : join(userInfo().homedir, '.cache');
}

function isPrivate(folder) {
  const found = lstatSync(folder);
  return found.isDirectory() && found.uid === process.getuid() && (found.mode & 0o022) === 0;
}
