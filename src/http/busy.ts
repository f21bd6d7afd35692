/**
 * The refusal of a full service, for tenants that must not learn of each other.
 *
 * @module
 */
import { SkillError } from '../inside.ts';

const RETRY_MS = 1000;

/** The same sentence and pause however many calls of others run or wait; other errors stay as they are. */
export function busyForAll(error: unknown): unknown {
  if (!(error instanceof SkillError) || error.detail['limit'] !== 'busy' || error.detail['scope'] !== 'all')
    return error;
  return new SkillError('resource_exceeded', 'The service is busy', {
    fix: `Try again after ${RETRY_MS} ms.`,
    detail: { limit: 'busy', retry_after_ms: RETRY_MS },
  });
}
