/**
 * Which file a path really is, found without following a single link. A skill with write access beside a granted
 * folder could replace it by a link between our check and the mount; so the mount is compared with this afterwards.
 *
 * @module
 */
import { closeSync, constants, fstatSync, openSync, statSync } from 'node:fs';

/** Linux O_PATH: a handle on the name only. Node does not export it. */
const O_PATH = 0o10000000;

export interface PathIdentity {
  dev: number;
  ino: number;
}

/** Walks an absolute real path segment by segment; throws when a segment is a link or is missing. */
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

/** What the jailed process sees at a path of its own. */
export function identityInside(pid: number, guestPath: string): PathIdentity {
  const { dev, ino } = statSync(`/proc/${pid}/root${guestPath}`);
  return { dev, ino };
}
