/**
 * Answers as JSON; errors have the shape of a failed outcome.
 *
 * @module
 */
import type { ServerResponse } from 'node:http';
import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import {
  type ErrorBody,
  type HostFolders,
  type Outcome,
  outcomeJson,
  printableJson,
  resultText,
  toSkillError,
} from '../inside.ts';
import { retryAfterOf, statusOf, type Status } from './status.ts';

/** An error with another status than that of its code. */
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
  // Printable, so that nothing in it can control the terminal of a curl user. The cast allows 499, which the types lack.
  return whole(c, printableJson(value), status);
}

/** What the server passes with each request, and the whole text of its answer. */
interface Exchange {
  outgoing?: ServerResponse;
  text?: string | Uint8Array;
}

/** The text of a response travels beside it: as its body, it would become a stream that is read again at once. */
function whole(c: Context, text: string | Uint8Array<ArrayBuffer>, status: Status): Response {
  const exchange = c.env as Exchange | undefined;
  const headers = { 'Content-Type': 'application/json' };
  if (!exchange?.outgoing) return c.body(text, status as ContentfulStatusCode, headers);
  exchange.text = text;
  return c.body(null, status as ContentfulStatusCode, headers);
}

/** Sends a response that has its text beside it; returns false for any other. */
export function sendWhole(response: Response, { outgoing, text }: Exchange): boolean {
  if (!outgoing || text === undefined || response.body !== null) return false;
  const headers = Object.fromEntries(response.headers);
  outgoing.writeHead(response.status, { ...headers, 'content-length': Buffer.byteLength(text) });
  outgoing.end(text);
  return true;
}

/** Sends the whole outcome of a call. */
export function answerOutcome(c: Context, outcome: Outcome): Response {
  if (outcome.ok && resultText(outcome)) return largeOutcome(c, outcome);
  if (outcome.ok) return json(c, outcome);
  const status = statusOf(outcome.error);
  if (status === 429 || status === 503) c.header('Retry-After', String(retryAfterOf(outcome.error)));
  return json(c, outcome, status);
}

/** Sends the text of the result unparsed. */
function largeOutcome(c: Context, outcome: Outcome): Response {
  return whole(c, new Uint8Array(outcomeJson(outcome, printableJson)), 200);
}

/** For errors thrown before a call was accepted. */
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
