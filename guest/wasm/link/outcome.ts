/**
 * How a guest call ended, whatever was thrown.
 *
 * @module
 */

import { GuestEnd } from '../contract.ts';

export type Outcome =
  /** Returned by the skill: its result, or its own error. */
  | { kind: 'ok'; value: string }
  | { kind: 'err'; value: string }
  | { kind: 'exit'; code: number }
  | { kind: 'limit'; limit: string }
  | { kind: 'denied'; detail: string }
  | { kind: 'trap'; message: string };

/** Messages that quote the guest can have any lines and any length. */
const MAX_MESSAGE = 500;

export function outcomeOf(error: unknown): Outcome {
  if (error instanceof GuestEnd) return guestEnd(error);
  if (error instanceof RangeError) return rangeError(error);
  if (error instanceof WebAssembly.RuntimeError) return trap(error.message);
  return trap(String(error));
}

function guestEnd({ kind, detail }: GuestEnd): Outcome {
  switch (kind) {
    case 'exit':
      return { kind, code: Number.parseInt(detail, 10) || 0 };
    case 'limit':
      return { kind, limit: detail };
    case 'denied':
      return { kind, detail };
    default:
      return trap(detail);
  }
}

/** The engine uses one class for a stack overflow and for a failed allocation. */
function rangeError({ message }: RangeError): Outcome {
  if (message.includes('call stack')) return trap('Call stack exhausted');
  return /out of memory/iu.test(message) ? { kind: 'limit', limit: 'memory' } : trap(message);
}

function trap(message: string): Outcome {
  return { kind: 'trap', message: message.slice(0, MAX_MESSAGE) };
}
