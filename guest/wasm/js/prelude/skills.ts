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

async function call(name: string, params: unknown): Promise<unknown> {
  const { value, bytes } = await ask('skill', { name }, encoder.encode(stringify(params ?? {}))).answer;
  const answer = value as { ok: boolean } & Refused;
  if (!answer.ok) throw new SkillCallError(answer);
  return parse(decoder.decode(bytes));
}

const named: Named = namesFor(call);
export const functions: Named['functions'] = named.functions;
export const skills: Named['skills'] = named.skills;
