/**
 * Finds the operator's policies from the working directory upwards; all of them apply. A file that an untrusted party
 * could have put there is refused with an error, because a skill must not decide what it may do.
 *
 * @module
 */
import { existsSync, lstatSync, type Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import { SkillError } from '../errors.ts';

export const POLICY_FILE = 'skillcell.policy.yaml';
const BUNDLE_MARKS = ['manifest.yaml', 'SKILL.md'] as const;

/** Where policy files of the folder can be, outermost first, whether they exist or not. */
export function possiblePolicies(folder: string): string[] {
  const above = folder === dirname(folder) ? [] : possiblePolicies(dirname(folder));
  return [...above, join(folder, POLICY_FILE)];
}

/** The policy files at and above the folder, outermost first. */
export function findPolicies(folder: string): string[] {
  const above = folder === dirname(folder) ? [] : findPolicies(dirname(folder));
  const file = join(folder, POLICY_FILE);
  const stat = lstatSync(file, { throwIfNoEntry: false });
  return stat ? [...above, assertTrustworthy(file, folder, stat)] : above;
}

function assertTrustworthy(file: string, folder: string, stat: Stats): string {
  if (!stat.isFile()) throw refusal(file, 'it is not a regular file');
  if (isInBundle(folder))
    throw refusal(file, 'it is in the folder of a skill, and a skill cannot bring its own policy');
  const own = process.getuid?.();
  if (own !== undefined && stat.uid !== own && stat.uid !== 0)
    throw refusal(file, `it belongs to user ${stat.uid}`);
  if ((stat.mode & 0o022) !== 0) throw refusal(file, 'other users can write to it');
  if (isOpenToOthers(folder))
    throw refusal(file, 'other users can replace it, because they can write to its folder');
  return file;
}

/** A bundle includes everything below its manifest. */
export function isInBundle(folder: string): boolean {
  if (BUNDLE_MARKS.some((mark) => existsSync(join(folder, mark)))) return true;
  return folder !== dirname(folder) && isInBundle(dirname(folder));
}

/** In a folder with the sticky bit, such as /tmp, only its owner can replace a file. */
function isOpenToOthers(folder: string): boolean {
  const { mode } = lstatSync(folder);
  return (mode & 0o022) !== 0 && (mode & 0o1000) === 0;
}

function refusal(file: string, reason: string): SkillError {
  return new SkillError('usage', `Refused the policy ${JSON.stringify(file)}: ${reason}`, {
    fix: 'Remove it, correct its owner and mode and those of its folder (chmod go-w), or name the policy you trust with --policy.',
    detail: { file, reason },
  });
}
