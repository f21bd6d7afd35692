/**
 * The errors that several sources share.
 *
 * @module
 */
import { SkillError } from '../../errors.ts';
import { quote } from '../../manifest/quote.ts';
import type { PinnedSource } from '../contract.ts';
import { isCommit } from '../references.ts';

/** The source now delivers other bytes than those that were pinned. */
export function movedSource(pinned: PinnedSource, found: string): SkillError {
  const version = pinned.version === undefined ? '' : ` in version ${quote(pinned.version)}`;
  return new SkillError(
    'manifest_drift',
    `The source ${quote(pinned.source)}${version} is not what skills.lock.json pins: it is ${found} now, and ${pinned.revision} is pinned`,
    {
      fix: 'Do not use it before you know who changed it and why. `skillcell update` shows the difference and asks.',
      detail: { source: pinned.source, version: pinned.version, found, pinned: pinned.revision },
    },
  );
}

/** A clone may pin anything; a commit names every byte of itself, a branch nothing. */
export function assertCommit({ source, revision }: PinnedSource): void {
  if (isCommit(revision)) return;
  throw new SkillError(
    'manifest_invalid',
    `skills.lock.json pins ${quote(source)} to ${quote(revision)}, which is not a commit`,
    { fix: 'Restore skills.lock.json from version control.' },
  );
}

/** The answer of a server is not what this kind of source answers. */
export function badAnswer(what: string, reason: string, detail: Record<string, unknown> = {}): SkillError {
  return new SkillError('manifest_invalid', `The answer to ${what} is refused: ${reason}.`, {
    fix: 'Check the address. If it is right, ask whoever runs this server to correct its answers.',
    detail: { reason, ...detail },
  });
}

/** The source works, and has no such thing. */
export function notThere(what: string, reason: string, fix: string): SkillError {
  return new SkillError('skill_unavailable', `${what} was not found: ${reason}.`, { fix });
}
