/**
 * Frames of a guest turned into typed values. Every field is checked and cut to size: a guest may send anything.
 *
 * @module
 */
import { CAPABILITY_NAMES, type CapabilityEvent } from '../outcome.ts';
import { GUEST_LIMITS, type GuestReply } from './contract.ts';
import { printable } from '../manifest/printable.ts';

const EXPLAINED = ['inside', 'wholly'] as const;
const MAX_TEXT = 500;
const MAX_TRACE = 10_000;
const MAX_NAME = 40;

/** An error or, when the frame names what does not exist, the end of all belief in its sender. */
export type ErrorReply = Extract<GuestReply, { kind: 'error' | 'broken' }>;

/** A denial or a use; undefined when the capability is none that exists. Only a use can be of a module. */
export function asEvent(body: Record<string, unknown>, kind: 'denied' | 'used'): CapabilityEvent | undefined {
  const capability = CAPABILITY_NAMES.find((name) => name === body['capability']);
  if (!capability || (kind === 'denied' && capability === 'module')) return undefined;
  return {
    capability,
    asked: shortText(body['asked'], MAX_TEXT),
    declared: shortText(body['declared'], MAX_TEXT),
  };
}

export function asError(body: Record<string, unknown>): ErrorReply {
  const { denied: denial, limit: limitName } = body;
  const limit = GUEST_LIMITS.find((name) => name === limitName);
  // A limit that is not told would turn a call beyond its limits into a fault of the skill.
  if (isGiven(limitName) && !limit) return unknown('limit', limitName);
  const denied = isObject(denial) ? asEvent(denial, 'denied') : undefined;
  if (isObject(denial) && !denied) return unknown('capability', denial['capability']);
  const explained = EXPLAINED.find((how) => how === body['explained']);
  return {
    kind: 'error',
    type: shortText(body['type'], MAX_TEXT),
    message: shortText(body['message'], MAX_TRACE),
    trace: shortText(body['trace'], MAX_TRACE),
    ...(denied ? { denied } : {}),
    ...(explained ? { explained } : {}),
    ...(limit ? { limit } : {}),
  };
}

/** What is wrong with a frame that names a capability or limit which does not exist. */
export function unknownName(what: 'capability' | 'limit', name: unknown): string {
  const shown = typeof name === 'string' ? `"${shortText(name, MAX_NAME)}"` : typeof name;
  return `a frame with the unknown ${what} ${shown}`;
}

function unknown(what: 'capability' | 'limit', name: unknown): ErrorReply {
  return { kind: 'broken', message: unknownName(what, name) };
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** Text of a guest for people: without the characters that steer a terminal, and cut after that, because escapes are longer. */
function shortText(value: unknown, max: number): string {
  const text = printable(typeof value === 'string' ? value.slice(0, max + 1) : '');
  return text.length > max ? `${text.slice(0, max).toWellFormed()}…` : text;
}
