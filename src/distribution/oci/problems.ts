/**
 * The errors of artifacts in registries.
 *
 * @module
 */
import { SkillError } from '../../errors.ts';

/** The artifact is malformed, hostile, or not what it should be. */
export function artifactRefused(what: string, reason: string, cause?: unknown): SkillError {
  return new SkillError('manifest_invalid', `Refused ${what}: ${reason}`, {
    fix: 'Check the reference. If it is right, ask the publisher to publish the skill again.',
    detail: { reason },
    cause,
  });
}

/** The registry does not behave as the specification says. */
export function registryRefused(what: string, reason: string): SkillError {
  return new SkillError('untrusted', `Refused ${what}: the registry ${reason}`, {
    fix: 'Check the reference. If it is right, ask whoever runs the registry to correct its answers, or use another one.',
    detail: { reason },
  });
}

/** Two parts that have to agree do not. */
export function artifactDrift(
  what: string,
  reason: string,
  detail: Record<string, unknown> = {},
): SkillError {
  return new SkillError('manifest_drift', `Refused ${what}: ${reason}`, {
    fix: 'Do not use it: it was changed after it was locked. Ask the publisher to publish it again under a new version.',
    detail: { reason, ...detail },
  });
}
