/**
 * The errors of images.
 *
 * @module
 */
import { SkillError } from '../../errors.ts';
import { quote } from '../../manifest/quote.ts';

/** The image contains something malicious or exceeds a limit. */
export function imageRefused(reason: string, detail: Record<string, unknown> = {}): SkillError {
  return new SkillError('manifest_invalid', `The image is refused: ${reason}`, {
    fix: 'Use another image, or rebuild this one without it.',
    detail: { reason, ...detail },
  });
}

/** The bytes were changed after they were written or sent. */
export function imageCorrupt(reason: string, detail: Record<string, unknown> = {}): SkillError {
  return new SkillError('skill_unavailable', `The image is damaged: ${reason}`, {
    fix: 'Build or fetch it again with `skillcell build`.',
    detail: { reason, ...detail },
  });
}

export function imageMissing(reference: string, how: string, pinned?: string): SkillError {
  const which = pinned === undefined ? '' : `, and neither is ${pinned}, which skill.lock pins`;
  return new SkillError('skill_unavailable', `The image ${quote(reference)} is not on this machine${which}`, {
    fix: how,
    detail: { image: reference, ...(pinned === undefined ? {} : { pinned }) },
  });
}

/** Turns a full disk into an error with a fix; returns other causes unchanged. */
export function writingFailed(what: string, cause: unknown): unknown {
  const { code } = cause as NodeJS.ErrnoException;
  if (code !== 'ENOSPC' && code !== 'EDQUOT') return cause;
  return new SkillError('skill_unavailable', `The disk is full: ${what} could not be written`, {
    fix: 'Free some disk space for SKILLCELL_HOME, or set it to a folder on another disk. Nothing was left behind.',
    detail: { code },
    cause,
  });
}

export function noEngine(why: string): SkillError {
  return new SkillError('skill_unavailable', `${why}, and neither podman nor docker responds`, {
    fix: 'Install podman (apt-get install podman), or start docker.',
  });
}

const MAX_TRACE_CHARACTERS = 4000;

/** A failed engine command, with the end of its output, which says the most. */
export function engineFailed(engine: string, what: string, output: string): SkillError {
  return new SkillError('skill_unavailable', `${engine} could not ${what}`, {
    fix: 'Fix the error in its output, and try again.',
    detail: { engine, trace: output.trim().slice(-MAX_TRACE_CHARACTERS) },
  });
}
