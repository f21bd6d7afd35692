/**
 * Frames of a guest turned into typed values. Every field is checked and cut to size: a guest may send anything.
 *
 * @module
 */
import type { CapabilityEvent } from '../outcome.ts';
import type { GuestReply } from './contract.ts';
import { printable } from './printable.ts';

const CAPABILITIES = ['filesystem', 'network', 'env', 'process', 'syscalls'] as const;
const GUEST_LIMITS = ['memory', 'scratch', 'processes', 'output', 'fuel', 'handles', 'host_calls'] as const;
const EXPLAINED = ['inside', 'wholly'] as const;
const MAX_TEXT = 500;
const MAX_TRACE = 10_000;

export function asDenial(body: Record<string, unknown>): CapabilityEvent {
  return {
    capability: CAPABILITIES.find((name) => name === body['capability']) ?? 'syscalls',
    asked: shortText(body['asked'], MAX_TEXT),
    declared: shortText(body['declared'], MAX_TEXT),
  };
}

/** What a skill used, as its own harness says; worth no more than a denial from there. */
export function asUse(body: Record<string, unknown>): CapabilityEvent {
  return body['capability'] === 'module' ? { ...asDenial(body), capability: 'module' } : asDenial(body);
}

export function asError(body: Record<string, unknown>): GuestReply {
  const denied = body['denied'];
  const limit = GUEST_LIMITS.find((name) => name === body['limit']);
  const explained = EXPLAINED.find((how) => how === body['explained']);
  return {
    kind: 'error',
    type: shortText(body['type'], MAX_TEXT),
    message: shortText(body['message'], MAX_TRACE),
    trace: shortText(body['trace'], MAX_TRACE),
    ...(typeof denied === 'object' && denied !== null
      ? { denied: asDenial(denied as Record<string, unknown>) }
      : {}),
    ...(explained ? { explained } : {}),
    ...(limit ? { limit } : {}),
  };
}

/** Text of a guest for people: cut, and without the control characters that steer a terminal. */
function shortText(value: unknown, max: number): string {
  const text = typeof value === 'string' ? value : '';
  return printable(text.length > max ? `${text.slice(0, max)}…` : text);
}
