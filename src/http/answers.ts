/**
 * Answers in the shapes that every client gets: JSON, and failures as the failed outcomes that calls have.
 *
 * @module
 */
import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import {
  outcomeJson,
  printableJson,
  resultText,
  toSkillError,
  type ErrorBody,
  type HostFolders,
  type Outcome,
} from '../index.ts';
import { retryAfterOf, statusOf, type Status } from './status.ts';

/** A failure that has another status than its code has. */
export class Refusal extends Error {
  readonly status: Status;
  readonly body: ErrorBody;

  constructor(status: Status, body: Omit<ErrorBody, 'detail'> & { detail?: ErrorBody['detail'] }) {
    super(body.message);
    this.status = status;
    this.body = { detail: {}, ...body };
  }
}

export function json(c: Context, value: unknown, status: Status = 200): Response {
  // Nothing in it steers the terminal of somebody who asks with curl.
  // 499 is no status that the types know.
  return c.body(printableJson(value), status as ContentfulStatusCode, { 'Content-Type': 'application/json' });
}

/** The whole outcome, whichever way it went. */
export function answerOutcome(c: Context, outcome: Outcome): Response {
  if (outcome.ok && resultText(outcome)) return largeOutcome(c, outcome);
  if (outcome.ok) return json(c, outcome);
  const status = statusOf(outcome.error);
  if (status === 429 || status === 503) c.header('Retry-After', String(retryAfterOf(outcome.error)));
  return json(c, outcome, status);
}

/** Its bytes as they are: nobody parses them on the way. */
function largeOutcome(c: Context, outcome: Outcome): Response {
  return c.body(new Uint8Array(outcomeJson(outcome, printableJson)), 200, {
    'Content-Type': 'application/json',
  });
}

/** Whatever was thrown before there was a call. */
export function answerError(c: Context, thrown: unknown, folders: HostFolders): Response {
  if (thrown instanceof Refusal) {
    if (thrown.status === 401) c.header('WWW-Authenticate', 'Bearer realm="skillcell"');
    return json(c, { ok: false, error: folders.error(thrown.body) }, thrown.status);
  }
  const error = folders.error(toSkillError(thrown).toBody());
  const status = statusOf(error);
  if (status === 429 || status === 503) c.header('Retry-After', String(retryAfterOf(error)));
  return json(c, { ok: false, error }, status);
}
