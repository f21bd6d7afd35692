/**
 * Finds the operator's policies from the working directory upwards: all of them count. A file that a stranger could have put there is
 * refused aloud: it would be the skill that says what the skill may do.
 *
 * @module
 */
import { existsSync, lstatSync, type Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import { SkillError } from '../errors.ts';

export const POLICY_FILE = 'skillcell.policy.yaml';
const BUNDLE_MARKS = ['manifest.yaml', 'SKILL.md'] as const;

/** The policy files at and above the folder, outermost first. */
export function findPolicies(folder: string): string[] {
  const above = folder === dirname(folder) ? [] : findPolicies(dirname(folder));
  const file = join(folder, POLICY_FILE);
  const stat = lstatSync(file, { throwIfNoEntry: false });
  return stat ? [...above, checked(file, folder, stat)] : above;
}

function checked(file: string, folder: string, stat: Stats): string {
  if (!stat.isFile()) throw refused(file, 'it is no regular file');
  if (isInBundle(folder))
    throw refused(file, 'it lies in the folder of a skill, and no skill brings its own policy');
  const own = process.getuid?.();
  if (own !== undefined && stat.uid !== own && stat.uid !== 0)
    throw refused(file, `it belongs to user ${stat.uid}`);
  if ((stat.mode & 0o022) !== 0) throw refused(file, 'others may write to it');
  if (isOpenToOthers(folder)) throw refused(file, 'others may replace it: they may write to its folder');
  return file;
}

/** A bundle is everything below its manifest. */
export function isInBundle(folder: string): boolean {
  if (BUNDLE_MARKS.some((mark) => existsSync(join(folder, mark)))) return true;
  return folder !== dirname(folder) && isInBundle(dirname(folder));
}

/** In a folder with the sticky bit, such as /tmp, a file can be replaced by its owner alone. */
function isOpenToOthers(folder: string): boolean {
  const { mode } = lstatSync(folder);
  return (mode & 0o022) !== 0 && (mode & 0o1000) === 0;
}

function refused(file: string, reason: string): SkillError {
  return new SkillError('usage', `Refused the policy ${JSON.stringify(file)}: ${reason}`, {
    fix: 'Remove it, correct its owner and mode and those of its folder (chmod go-w), or name the policy you trust with --policy.',
    detail: { file, reason },
  });
}
