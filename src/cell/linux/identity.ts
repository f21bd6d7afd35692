/**
 * Chooses the user that a cell runs as. It is never root: a user namespace only renames uid 0 inside, while the host
 * kernel still sees uid 0, with write access to its settings.
 *
 * @module
 */
import { readFileSync, statSync } from 'node:fs';
import { SkillError } from '../../errors.ts';
import type { Grant } from '../../policy/grant.ts';

/** In the id range that Debian reserves and never assigns. */
export const DEFAULT_CELL_ID = 65_432;

export interface CellIdentity {
  uid: number;
  gid: number;
}

/** The ids of our own user namespace. The kernel lets them be written once. */
export interface IdMaps {
  uid: string;
  gid: string;
}

export function ownIdMaps(): IdMaps {
  return { uid: readMap('/proc/self/uid_map'), gid: readMap('/proc/self/gid_map') };
}

/**
 * Undefined if the host is not root: the cell then has the host user's uid and only sees what is mounted. A root host
 * drops to the owner of the writable paths, or to our own id.
 */
export function cellIdentity(
  grant: Pick<Grant, 'filesystem'>,
  cellId: number,
  maps: IdMaps = ownIdMaps(),
): CellIdentity | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const writable = grant.filesystem.filter((path) => path.access === 'read-write' && !path.isPin);
  const owners = new Map(writable.map((path) => [path.host, statSync(path.host)]));
  for (const [host, stat] of owners) {
    if (stat.uid === 0 && (stat.mode & 0o002) === 0) throw notWritable(host, cellId);
  }
  const owner = [...owners.values()].find((stat) => stat.uid !== 0);
  const identity = owner
    ? { uid: owner.uid, gid: owner.gid === 0 ? owner.uid : owner.gid }
    : { uid: cellId, gid: cellId };
  const missing = (['uid', 'gid'] as const).find((kind) => !isMapped(identity[kind], maps[kind]));
  if (missing) throw notMapped(missing, identity[missing]);
  return identity;
}

/** Why not even a cell without writable paths can run; undefined if it can. */
export function refusalOf(cellId: number): SkillError | undefined {
  try {
    cellIdentity({ filesystem: [] }, cellId);
    return undefined;
  } catch (error) {
    if (error instanceof SkillError) return error;
    throw error;
  }
}

/** Whether an id exists in a user namespace. Each line of the map has the first id inside, first id outside and count. */
export function isMapped(id: number, map: string): boolean {
  return map.split('\n').some((line) => {
    const [first, , count] = line.trim().split(/\s+/).map(Number);
    return first !== undefined && count !== undefined && id >= first && id < first + count;
  });
}

function readMap(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // A kernel without user namespaces has all ids.
    return '0 0 4294967295';
  }
}

function notMapped(kind: 'uid' | 'gid', id: number): SkillError {
  return new SkillError(
    'usage',
    `Skillcell runs as root of a user namespace that has no ${kind} ${id}, and a cell never runs as root`,
    {
      fix: 'Run Skillcell outside of this user namespace, as the user who created it.',
      detail: { [kind]: id },
    },
  );
}

function notWritable(host: string, cellId: number): SkillError {
  return new SkillError(
    'usage',
    `The granted directory "${host}" belongs to root, and a cell never runs as root`,
    {
      fix: `Change its owner: chown ${cellId} "${host}".`,
      detail: { path: host },
    },
  );
}
