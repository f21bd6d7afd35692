/**
 * Turns frames from a guest into typed values. Every field is checked and truncated, because a guest may send anything.
 *
 * @module
 */
import type { CapabilityFields, FailureFields, Unchecked } from '../../../guest/protocol.ts';
import { CAPABILITY_NAMES, type CapabilityName } from '../../vocabulary/capabilities.ts';
import type { CapabilityEvent } from '../../outcome.ts';
import { GUEST_LIMITS } from '../../vocabulary/limits.ts';
import type { GuestReply } from '../contract.ts';
import { printable } from '../../manifest/printable.ts';

const EXPLAINED = ['inside', 'wholly'] as const;
const MAX_TEXT = 500;
const MAX_TRACE = 10_000;
const MAX_NAME = 40;

/** An error, or `broken` if the frame names an unknown capability or limit: then its sender is no longer trusted. */
export type ErrorReply = Extract<GuestReply, { kind: 'error' | 'broken' }>;

/** What only the host sees: a guest that reports one has made it up. */
const SEEN_BY_HOST: { readonly [Kind in 'denied' | 'used']: ReadonlySet<string> } = {
  used: new Set<CapabilityName>(['network', 'secret', 'skill']),
  denied: new Set<CapabilityName>(['module', 'skill']),
};

/** A denial or a use; undefined if the capability is unknown. Modules can be used, but not denied. */
export function asEvent(
  body: Unchecked<CapabilityFields>,
  kind: 'denied' | 'used',
): CapabilityEvent | undefined {
  const capability = CAPABILITY_NAMES.find((name) => name === body.capability);
  if (!capability || SEEN_BY_HOST[kind].has(capability)) return undefined;
  return {
    capability,
    asked: shortText(body.asked, MAX_TEXT),
    declared: shortText(body.declared, MAX_TEXT),
  };
}

export function asError(body: Unchecked<FailureFields>): ErrorReply {
  const { denied: denial, limit: limitName } = body;
  const limit = GUEST_LIMITS.find((name) => name === limitName);
  // Ignoring an unknown limit would report an exceeded limit as an error of the skill.
  if (isPresent(limitName) && !limit) return unknown('limit', limitName);
  const denied = isObject(denial) ? asEvent(denial, 'denied') : undefined;
  if (isObject(denial) && !denied) return unknown('capability', denial.capability);
  const explained = EXPLAINED.find((how) => how === body.explained);
  return {
    kind: 'error',
    type: shortText(body.type, MAX_TEXT),
    message: shortText(body.message, MAX_TRACE),
    trace: shortText(body.trace, MAX_TRACE),
    ...(denied ? { denied } : {}),
    ...(explained ? { explained } : {}),
    ...(limit ? { limit } : {}),
  };
}

/** Describes a frame that names an unknown capability or limit. */
export function unknownName(what: 'capability' | 'limit', name: unknown): string {
  const quoted = typeof name === 'string' ? `"${shortText(name, MAX_NAME)}"` : typeof name;
  return `a frame with the unknown ${what} ${quoted}`;
}

function unknown(what: 'capability' | 'limit', name: unknown): ErrorReply {
  return { kind: 'broken', message: unknownName(what, name) };
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function isObject(value: unknown): value is Unchecked<CapabilityFields> {
  return typeof value === 'object' && value !== null;
}

/** Escapes terminal control characters in text from a guest, then truncates it, because escapes are longer. */
function shortText(value: unknown, max: number): string {
  const text = printable(typeof value === 'string' ? value.slice(0, max + 1) : '');
  return text.length > max ? `${text.slice(0, max).toWellFormed()}…` : text;
}
