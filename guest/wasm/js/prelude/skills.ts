/**
 * Calls of other skills, and of functions of the host.
 *
 * @module
 */
import { TextDecoder, TextEncoder } from './encoding.ts';
import { ask } from './pending.ts';
import { namesFor, SkillCallError, type Named, type Refused } from './skill-names.ts';

/** Captured before the skill could change them. */
const { parse, stringify } = JSON;
const encoder = new TextEncoder();
const decoder = new TextDecoder();
/** Calls that the host runs at once for this one. Further ones wait here. */
const MOST_AT_ONCE = 64;
const queue: (() => void)[] = [];
let running = 0;

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

const named: Named = namesFor(call);
export const functions: Named['functions'] = named.functions;
export const skills: Named['skills'] = named.skills;
