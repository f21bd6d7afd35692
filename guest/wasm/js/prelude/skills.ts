/**
 * Calls of other skills, `skills.text.word_stats({ … })` or `skills['text/word_stats']({ … })`, and of functions of the
 * host, `functions.now({ … })`.
 *
 * @module
 */
import { TextDecoder, TextEncoder } from './encoding.ts';
import { ask } from './pending.ts';

/** Captured before the skill could change them. */
const { parse, stringify } = JSON;
const encoder = new TextEncoder();
const decoder = new TextDecoder();
/** A promise or a serializer looks for these on any object; a skill with such a name is called with its full name. */
const NOT_NAMES: ReadonlySet<string> = new Set(['then', 'toJSON']);

/** Calls that the host runs at once for this one. Further ones wait here. */
const MOST_AT_ONCE = 64;
const queue: (() => void)[] = [];
let running = 0;

type Call = (params?: unknown) => Promise<unknown>;

interface Refused {
  code: string;
  message: string;
  fix: string;
}

/** A call that was refused or failed. */
export class SkillCallError extends Error {
  readonly code: string;
  readonly fix: string;

  constructor({ code, message, fix }: Refused) {
    super(message);
    this.code = code;
    this.fix = fix;
  }

  override get name(): string {
    return 'SkillCallError';
  }
}

async function call(name: string, params: unknown): Promise<unknown> {
  const payload = encoder.encode(stringify(params ?? {}));
  if (running < MOST_AT_ONCE) running++;
  // The call that ends hands its place over.
  else await new Promise<void>((resolve) => void queue.push(resolve));
  const { value, bytes } = await ask('skill', { name }, payload).answer.finally(handOver);
  const answer = value as { ok: boolean } & Refused;
  if (!answer.ok) throw new SkillCallError(answer);
  return parse(decoder.decode(bytes));
}

function handOver(): void {
  const next = queue.shift();
  if (next) next();
  else running--;
}

function callOf(name: string): Call {
  return (params) => call(name, params);
}

function byName<T>(make: (name: string) => T): Record<string, T> {
  return new Proxy(Object.create(null) as Record<string, T>, {
    get: (_, name) => (typeof name === 'string' && !NOT_NAMES.has(name) ? make(name) : undefined),
  });
}

export const functions: Record<string, Call> = byName(callOf);

export const skills: Record<string, Call | Record<string, Call>> = byName((name) =>
  name.includes('/') ? callOf(name) : byName((inner) => callOf(`${name}/${inner}`)),
);
