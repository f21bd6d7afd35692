/**
 * What worker threads do with large parameters: parse, compare with the schema of the skill and the rules of the guard,
 * digest, and write them as the text that the cell gets.
 *
 * @module
 */
import { digestJson } from '../audit/canonical-json.ts';
import { scrubberFor } from '../broker/secrets/scrub.ts';
import { SkillError } from '../errors.ts';
import { assertDepth, notJson } from '../load/params.ts';
import type { JsonSchema } from '../manifest/manifest.ts';
import { compiled } from '../manifest/schema-tasks.ts';
import { besideThis, type Task, type Tasks, type ThreadMemory } from '../offload/task.ts';
import { argumentsHold, type GuardRule } from '../trust/guard.ts';

const MODULE = besideThis(import.meta.url, './tasks');

export interface UnreadParams {
  bytes: Uint8Array;
  schema: JsonSchema;
  rules: readonly GuardRule[];
}

export interface CheckedParams {
  /** Made from the value that was checked: no reader can take it for another one. */
  text: Uint8Array;
  digest: string;
  problems: string[];
  /** Places of the rules whose conditions on arguments all hold. */
  holding: number[];
}

export const CHECK_PARAMS: Task<UnreadParams, CheckedParams> = { module: MODULE, name: 'checkParams' };

function checkParams({ bytes, schema, rules }: UnreadParams, memory: ThreadMemory): CheckedParams {
  const text = normalText(bytes);
  const value: unknown = JSON.parse(text);
  const context = { file: 'manifest.yaml', at: 'parameters' };
  const problems = compiled({ schema, context }, memory).check(value);
  const holding = rules.flatMap((rule, at) => (argumentsHold(rule, value) ? [at] : []));
  return { text: new TextEncoder().encode(text), digest: digestJson(value), problems, holding };
}

/** One spelling for each value: the last of two equal keys, no blanks. */
function normalText(bytes: Uint8Array): string {
  const given = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  const value = parse(given, notJson);
  assertDepth(given);
  return JSON.stringify(value);
}

export interface ParamsToDigest {
  bytes: Uint8Array;
  /** Values by name; no digest is made over them. */
  secrets: ReadonlyMap<string, string>;
}

export const DIGEST_PARAMS: Task<ParamsToDigest, string> = { module: MODULE, name: 'digestParams' };

function digestParams({ bytes, secrets }: ParamsToDigest): string {
  return digestJson(scrubberFor(secrets)(JSON.parse(normalText(bytes))));
}

export interface UnreadMessage {
  bytes: Uint8Array;
  /** The member that stays text, in the message or in each of a list of them. */
  path: readonly string[];
  /** The most that may be left without it. */
  maxRest: number;
}

export interface SplitMessage {
  /** As JSON, with `{}` for every part that was taken out. */
  rest: string;
  /** One for each message of a list, or one. */
  parts: (Uint8Array | undefined)[];
}

export const SPLIT_MESSAGE: Task<UnreadMessage, SplitMessage> = { module: MODULE, name: 'splitMessage' };

function splitMessage({ bytes, path, maxRest }: UnreadMessage): SplitMessage {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  const message = parse(text, messageNotJson);
  const each = Array.isArray(message) ? (message as unknown[]) : [message];
  assertDepth(text);
  const parts = each.map((one) => takeOut(one, path));
  const rest = JSON.stringify(message);
  if (Buffer.byteLength(rest) > maxRest) throw tooMuchElse(path, maxRest);
  return { rest, parts };
}

function takeOut(message: unknown, path: readonly string[]): Uint8Array | undefined {
  const [key = '', ...deeper] = path;
  if (typeof message !== 'object' || message === null || !Object.hasOwn(message, key)) return undefined;
  const holder = message as Record<string, unknown>;
  if (deeper.length > 0) return takeOut(holder[key], deeper);
  const part = new TextEncoder().encode(JSON.stringify(holder[key]));
  holder[key] = {};
  return part;
}

function parse(text: string, asError: (error: unknown) => SkillError): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw asError(error);
  }
}

function messageNotJson(error: unknown): SkillError {
  const reason = error instanceof Error ? error.message : String(error);
  return new SkillError('usage', `The body is no JSON: ${reason}`, {
    fix: 'Send JSON, e.g. {"params": {}}.',
    detail: { reason: 'not_json' },
  });
}

function tooMuchElse(path: readonly string[], maxRest: number): SkillError {
  return new SkillError('usage', `The message has more than ${maxRest} bytes besides ${path.join('.')}`, {
    fix: `Send only ${path.join('.')} large.`,
    detail: { reason: 'too_large', max_bytes: maxRest },
  });
}

export const tasks: Tasks = { checkParams, digestParams, splitMessage };
