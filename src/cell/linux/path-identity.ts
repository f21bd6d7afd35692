/**
 * Identifies the file behind a path without following symlinks. A skill with write access to a parent of a granted
 * folder could replace it with a symlink between our check and the mount, so the mount is compared with this identity.
 *
 * @module
 */
import { closeSync, constants, fstatSync, openSync, statSync } from 'node:fs';

/** Linux O_PATH: opens a path without opening the file. Node does not export it. */
const O_PATH = 0o10000000;

export interface PathIdentity {
  dev: number;
  ino: number;
}

/** Walks an absolute real path segment by segment; throws if a segment is a symlink or missing. */
export function pathIdentity(realPath: string): PathIdentity {
  let handle = openSync('/', O_PATH | constants.O_DIRECTORY);
  try {
    for (const segment of realPath.split('/').filter(Boolean)) {
      const next = openSync(`/proc/self/fd/${handle}/${segment}`, O_PATH | constants.O_NOFOLLOW);
      closeSync(handle);
      handle = next;
      if (fstatSync(handle).isSymbolicLink())
        throw new Error(`"${segment}" in "${realPath}" is a symbolic link`);
    }
    const { dev, ino } = fstatSync(handle);
    return { dev, ino };
  } finally {
    closeSync(handle);
  }
}

/** The file that a jailed process sees at a guest path. */
export function identityInside(pid: number, guestPath: string): PathIdentity {
  const { dev, ino } = statSync(`/proc/${pid}/root${guestPath}`);
  return { dev, ino };
}
