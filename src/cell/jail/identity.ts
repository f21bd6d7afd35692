/**
 * As whom a cell runs. Never as root: renaming uid 0 inside a user namespace leaves the kernel's uid 0,
 * and with it write access to the host's kernel settings.
 *
 * @module
 */
import { statSync } from 'node:fs';
import { SkillError } from '../../errors.ts';
import type { Grant } from '../../policy/grant.ts';

/** In the range that Debian reserves and gives to nobody. */
export const DEFAULT_CELL_ID = 65_432;

export interface CellIdentity {
  uid: number;
  gid: number;
}

/**
 * Undefined when the host is not root: the cell then has the host user's kernel uid and only sees what is mounted.
 * A root host drops to the owner of the writable paths, or to an id of our own.
 */
export function cellIdentity(grant: Grant, cellId: number): CellIdentity | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const writable = grant.filesystem.filter((path) => path.access === 'read-write');
  const owners = new Map(writable.map((path) => [path.host, statSync(path.host)]));
  for (const [host, stat] of owners) {
    if (stat.uid === 0 && (stat.mode & 0o002) === 0) throw notWritable(host, cellId);
  }
  const owner = [...owners.values()].find((stat) => stat.uid !== 0);
  return owner
    ? { uid: owner.uid, gid: owner.gid === 0 ? owner.uid : owner.gid }
    : { uid: cellId, gid: cellId };
}

function notWritable(host: string, cellId: number): SkillError {
  return new SkillError(
    'usage',
    `The granted directory "${host}" belongs to root, and a cell never runs as root`,
    {
      fix: `Give it to another user: chown ${cellId} "${host}" (or make it world-writable, or run Skillcell as that user).`,
      detail: { path: host },
    },
  );
}
