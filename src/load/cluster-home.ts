/**
 * Where a worker keeps skills that arrived from the cluster: `cluster/<digest>/<name>` in Skillcell's own folder. The name is
 * part of the path, because a folder without a manifest is named after it.
 *
 * @module
 */
import { join } from 'node:path';
import { SkillError } from '../errors.ts';
import { skillNameProblem } from '../manifest/names.ts';

export function clusterDir(home: string): string {
  return join(home, 'cluster');
}

/** Throws for a name that could leave the folder. */
export function arrivedDir(home: string, { name, digest }: { name: string; digest: string }): string {
  const hex = digest.replace(/^sha256:/, '');
  if (skillNameProblem(name) === undefined && /^[0-9a-f]{64}$/.test(hex))
    return join(clusterDir(home), hex, name);
  throw new SkillError('usage', `${JSON.stringify(name.slice(0, 100))} is not a valid name of a skill`, {
    fix: 'Use a name such as "text/notes".',
  });
}
