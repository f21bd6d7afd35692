/**
 * The work of worker threads on large parameters: parse them, check them against the skill's schema and the guard's rules,
 * digest them, and write the text that the cell gets.
 *
 * @module
 */
import { digestJson } from '../audit/canonical-json.ts';
import { scrubberFor } from '../broker/secrets/scrub.ts';
import { SkillError } from '../errors.ts';
import { parseExact } from '../json-text.ts';
import { assertDepth, assertSize, notJson } from '../load/params.ts';
import type { JsonSchema } from '../manifest/manifest.ts';
import { compileOnce } from '../manifest/schema-tasks.ts';
import { besideThis, type Task, type Tasks, type ThreadMemory } from '../offload/task.ts';
import type { GivenCommand } from '../policy/commands/command.ts';
import { argumentsHold, type GuardRule } from '../trust/guard.ts';
import { givenCommand } from './given-command.ts';

const MODULE = besideThis(import.meta.url, './tasks');

export interface UnreadParams {
  bytes: Uint8Array;
  schema: JsonSchema;
  rules: readonly GuardRule[];
  /** The parameters are a command. */
  isCommand: boolean;
}

export interface CheckedParams {
  /** Serialized from the checked value, so that no parser can read it differently. */
  text: Uint8Array;
  digest: string;
  problems: string[];
  /** Indexes of the rules whose argument conditions all hold. */
  holding: number[];
  command?: GivenCommand;
}

export const CHECK_PARAMS: Task<UnreadParams, CheckedParams> = { module: MODULE, name: 'checkParams' };

function checkParams({ bytes, schema, rules, isCommand }: UnreadParams, memory: ThreadMemory): CheckedParams {
  const text = normalText(bytes);
  const value: unknown = JSON.parse(text);
  const context = { file: 'manifest.yaml', at: 'parameters' };
  const problems = compileOnce({ schema, context }, memory).check(value);
  const bytesToSend = new TextEncoder().encode(text);
  // A number can be longer than in the input: 1e20 has 21 digits.
  assertSize(bytesToSend.length);
  const holding = rules.flatMap((rule, at) => (argumentsHold(rule, value) ? [at] : []));
  const command = isCommand && problems.length === 0 ? { command: givenCommand(value) } : {};
  return { text: bytesToSend, digest: digestJson(value), problems, holding, ...command };
}

/** Normalizes the text: the last of two equal keys wins, and there is no whitespace. */
function normalText(bytes: Uint8Array): string {
  const given = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  const value = parse(given, notJson);
  assertDepth(given);
  return JSON.stringify(value);
}

export interface ParamsToDigest {
  bytes: Uint8Array;
  /** Values by name; they are removed before digesting. */
  secrets: ReadonlyMap<string, string>;
}

export const DIGEST_PARAMS: Task<ParamsToDigest, string> = { module: MODULE, name: 'digestParams' };

function digestParams({ bytes, secrets }: ParamsToDigest): string {
  return digestJson(scrubberFor(secrets)(JSON.parse(normalText(bytes))));
}

export interface UnreadMessage {
  bytes: Uint8Array;
  /** The member that stays text, in the message or in each message of a list. */
  path: readonly string[];
  /** Maximum size of the rest of the message. */
  maxRest: number;
}

export interface SplitMessage {
  /** JSON with `{}` in place of every part. */
  rest: string;
  /** One per message of a list, or one. */
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
  if (Buffer.byteLength(rest) > maxRest) throw restTooLarge(path, maxRest);
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
    return parseExact(text);
  } catch (error) {
    throw asError(error);
  }
}

function messageNotJson(error: unknown): SkillError {
  const reason = error instanceof Error ? error.message : String(error);
  return new SkillError('usage', `The body is not valid JSON: ${reason}`, {
    fix: 'Send JSON, e.g. {"params": {}}.',
    detail: { reason: 'not_json' },
  });
}

function restTooLarge(path: readonly string[], maxRest: number): SkillError {
  return new SkillError('usage', `The message has more than ${maxRest} bytes outside ${path.join('.')}`, {
    fix: `Move large values into ${path.join('.')}.`,
    detail: { reason: 'too_large', max_bytes: maxRest },
  });
}

export const tasks: Tasks = { checkParams, digestParams, splitMessage };
