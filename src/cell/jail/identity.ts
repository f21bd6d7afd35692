/**
 * As whom a cell runs. Never as root: renaming uid 0 inside a user namespace leaves the kernel's uid 0,
 * and with it write access to the host's kernel settings.
 *
 * @module
 */
import { readFileSync, statSync } from 'node:fs';
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
export function cellIdentity(grant: Pick<Grant, 'filesystem'>, cellId: number): CellIdentity | undefined {
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
  const maps = { uid: readMap('/proc/self/uid_map'), gid: readMap('/proc/self/gid_map') };
  const missing = (['uid', 'gid'] as const).find((kind) => !isMapped(identity[kind], maps[kind]));
  if (missing) throw notMapped(missing, identity[missing]);
  return identity;
}

/** What stands in the way of a cell without writable paths. */
export function refusalOf(cellId: number): SkillError | undefined {
  try {
    cellIdentity({ filesystem: [] }, cellId);
    return undefined;
  } catch (error) {
    if (error instanceof SkillError) return error;
    throw error;
  }
}

/** Whether an id exists in a user namespace, by the text of its map: lines of first id inside, first id outside, count. */
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
    // A kernel without user namespaces has every id.
    return '0 0 4294967295';
  }
}

function notMapped(kind: 'uid' | 'gid', id: number): SkillError {
  return new SkillError(
    'usage',
    `Skillcell runs as root of a user namespace that has no ${kind} ${id}, and a cell never runs as root`,
    {
      fix: 'Run Skillcell as the user who opened this user namespace, outside of it.',
      detail: { [kind]: id },
    },
  );
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
