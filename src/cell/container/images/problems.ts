/**
 * What can be wrong with an image, each with a message of its own.
 *
 * @module
 */
import { SkillError } from '../../../errors.ts';
import { quote } from '../../../manifest/quote.ts';

/** The image holds what no honest image does, or more than is read. */
export function imageRefused(reason: string, detail: Record<string, unknown> = {}): SkillError {
  return new SkillError('manifest_invalid', `The image is refused: ${reason}`, {
    fix: 'Use another image, or build this one anew without it.',
    detail: { reason, ...detail },
  });
}

/** Bytes are not what they were when they were written or sent. */
export function imageCorrupt(reason: string, detail: Record<string, unknown> = {}): SkillError {
  return new SkillError('skill_unavailable', `The image is damaged: ${reason}`, {
    fix: 'Build or fetch it anew with `skillcell build`.',
    detail: { reason, ...detail },
  });
}

export function imageMissing(reference: string, how: string, pinned?: string): SkillError {
  const which = pinned === undefined ? '' : `, nor is ${pinned}, which skill.lock pins`;
  return new SkillError('skill_unavailable', `The image ${quote(reference)} is not here${which}`, {
    fix: how,
    detail: { image: reference, ...(pinned === undefined ? {} : { pinned }) },
  });
}

/** Whatever went wrong while bytes were written; a full disk has words of its own. */
export function writingFailed(what: string, cause: unknown): unknown {
  const { code } = cause as NodeJS.ErrnoException;
  if (code !== 'ENOSPC' && code !== 'EDQUOT') return cause;
  return new SkillError('skill_unavailable', `The disk is full: ${what} could not be written`, {
    fix: 'Free some space where SKILLCELL_HOME is, or let it name a folder on another disk. Nothing was left behind.',
    detail: { code },
    cause,
  });
}

export function noEngine(why: string): SkillError {
  return new SkillError('skill_unavailable', `${why}, and neither podman nor docker answers here`, {
    fix: 'Install podman (apt-get install podman), or start docker.',
  });
}

const SHOWN_CHARACTERS = 4000;

/** What an engine says when something fails; its last words tell the most. */
export function engineFailed(engine: string, what: string, words: string): SkillError {
  return new SkillError('skill_unavailable', `${engine} could not ${what}`, {
    fix: 'See what it says, and try again.',
    detail: { engine, trace: words.trim().slice(-SHOWN_CHARACTERS) },
  });
}
