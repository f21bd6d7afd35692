/**
 * Folders of this user for code that we run: only the user can write there, unlike in the shared temporary folder.
 *
 * @module
 */
import { existsSync, lstatSync, mkdirSync, statSync } from 'fs';
import { userInfo } from 'os';
import { isAbsolute, join } from 'path';

/** @returns {string | undefined} the folder `name`, created; undefined if the home is missing, read-only or not private */
export function privateCache(name) {
  try {
    const parent = cacheHome();
    const own = join(parent, 'skillcell');
    const folder = join(own, name);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const safe = statSync(parent).uid === process.getuid() && isPrivate(own) && isPrivate(folder);
    return safe ? folder : undefined;
  } catch {
    return undefined;
  }
}

function cacheHome() {
  const chosen = process.env.XDG_CACHE_HOME;
  return chosen !== undefined && isAbsolute(chosen) ? chosen : join(home(), '.cache');
}

/**
 * The home of the account, not `$HOME`, which under sudo may still be another user's. Users without an account, as in many
 * containers, and `nobody` have only `$HOME`, which must be theirs.
 */
function home() {
  const own = accountHome();
  if (own !== undefined && existsSync(own)) return own;
  const { HOME } = process.env;
  if (HOME === undefined || !isAbsolute(HOME) || !isPrivate(HOME)) throw new Error('there is no home');
  return HOME;
}

function accountHome() {
  try {
    return userInfo().homedir;
  } catch {
    return undefined;
  }
}

function isPrivate(folder) {
  const found = lstatSync(folder);
  return found.isDirectory() && found.uid === process.getuid() && (found.mode & 0o022) === 0;
}
