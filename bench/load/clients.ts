/**
 * Clients that call, check the response and pause, until the time is over.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer, Kind } from './skills.ts';

/** Average pause between two calls of a client. */
const THINK_MS = 400;
const EVENTS = 'text/event-stream';
const ACCEPTED = /event: accepted\ndata: \{"call_id":"(\w+)"\}/;

export interface Target {
  url: string;
  token: string;
}

export interface Tally {
  /** Milliseconds from request to response, by skill. */
  times: Record<string, number[]>;
  right: number;
  /** Rejected with 429 and Retry-After, as expected when there are too many. */
  refused: number;
  wrong: string[];
  lost: string[];
}

export function newTally(): Tally {
  return { times: {}, right: 0, refused: 0, wrong: [], lost: [] };
}

export interface LoadOptions {
  target: Target;
  clients: readonly Kind[];
  seconds: number;
  /** Other acceptable answers, e.g. while cells are killed. */
  alsoRight?: (answer: Answer) => boolean;
}

/** One client for each given kind, all concurrently. */
export async function runClients(options: LoadOptions): Promise<Tally> {
  const tally = newTally();
  const until = performance.now() + options.seconds * 1000;
  await Promise.all(
    options.clients.map(async (kind, at) => {
      for (let n = at; performance.now() < until; n += options.clients.length) {
        await sleep(Math.random() * 2 * THINK_MS);
        await callOnce(kind, n, { tally, ...options });
      }
    }),
  );
  return tally;
}

async function callOnce(kind: Kind, n: number, options: LoadOptions & { tally: Tally }): Promise<void> {
  const { target, tally, alsoRight = () => false } = options;
  const began = performance.now();
  let answer: Answer;
  let retryAfter: string | null;
  try {
    const response = await post(target, kind.name, { n });
    retryAfter = response.headers.get('retry-after');
    answer = { status: response.status, body: (await response.json()) as Answer['body'] };
  } catch (error) {
    tally.lost.push(`${kind.name}: ${describe(error)}`);
    return;
  }
  if (answer.status === 429 && retryAfter !== null) tally.refused++;
  else if (kind.isRight(answer, n)) {
    tally.right++;
    (tally.times[kind.name] ??= []).push(performance.now() - began);
  } else if (alsoRight(answer)) tally.right++;
  else tally.wrong.push(`${kind.name}: ${answer.status} ${JSON.stringify(answer.body).slice(0, 300)}`);
}

interface Asked {
  n: number;
  accept?: string;
}

function post(
  { url, token }: Target,
  skill: string,
  { n, accept = 'application/json' }: Asked,
): Promise<Response> {
  return fetch(`${url}/v1/skills/load/${skill}/execute`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', accept },
    body: JSON.stringify({ params: { n } }),
  });
}

/** Calls with event streams until the service is gone; returns the ids of the calls that it accepted. */
export async function acceptedCalls(target: Target, kinds: readonly Kind[]): Promise<string[]> {
  const accepted: string[] = [];
  await Promise.all(
    kinds.map(async ({ name }, at) => {
      try {
        for (let n = at; ; n += kinds.length)
          await followOnce(await post(target, name, { n, accept: EVENTS }), accepted);
      } catch {
        // The service was killed; what it sent before counts.
      }
    }),
  );
  return accepted;
}

async function followOnce({ body }: Response, accepted: string[]): Promise<void> {
  let text = '';
  let isNoted = false;
  for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    const id = ACCEPTED.exec(text)?.[1];
    if (id === undefined || isNoted) continue;
    isNoted = true;
    accepted.push(id);
  }
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
