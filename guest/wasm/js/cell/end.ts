/**
 * What a call ended with, in the words of the host.
 *
 * @module
 */
import { GuestEnd } from '../../contract.ts';
import type { QuickJs } from '../engine/quickjs.ts';
import type { Answer } from './contract.ts';
import type { Reply } from './running.ts';

/** Names of limits inside the cell that are one limit outside; what is not here is about the size of data. */
const LIMIT_NAMES: Readonly<Record<string, string>> = {
  files: 'handles',
  fuel: 'fuel',
  handles: 'handles',
  memory: 'memory',
  host_calls: 'host_calls',
};
const MAX_ERROR_BYTES = 256 * 1024;
const OUT_OF_MEMORY = /^(?:InternalError|RangeError)$/;

interface ReplyContext {
  output: number;
  engine: QuickJs;
}

export function describeReply({ kind, utf8 }: Reply, { output, engine }: ReplyContext): Answer {
  if (kind === 'result')
    return utf8.length > output ? limited('output') : { body: { t: 'result' }, payload: utf8 };
  const error = errorOf(utf8);
  const isFull = engine.hasFailedToGrow && OUT_OF_MEMORY.test(String(error['type']));
  return { body: { t: 'error', ...error, ...(isFull ? { limit: 'memory' } : {}) } };
}

/** A call that did not get to reply. */
export function describeEnd(error: unknown, engine: QuickJs): Answer {
  if (error instanceof GuestEnd && error.kind === 'limit') return limited(error.detail);
  if (error instanceof GuestEnd && error.kind === 'exit') return failed('NeverSettled', NEVER_SETTLED);
  if (engine.fuel < 0n) return limited('fuel');
  if (engine.hasFailedToGrow) return limited('memory');
  // Frames of the engine lie on the stack of V8, which ended before the engine's own limit did.
  if (error instanceof RangeError && error.message.includes('call stack'))
    return failed('RangeError', 'Maximum call stack size exceeded');
  return failed('Trap', error instanceof Error ? error.message : String(error));
}

const NEVER_SETTLED =
  'The promise of the skill can never settle: nothing is left to run, and no timer, request or file is waited for';

function limited(name: string): Answer {
  return {
    body: { t: 'error', type: 'Limit', message: name, trace: '', limit: LIMIT_NAMES[name] ?? 'output' },
  };
}

function failed(type: string, message: string): Answer {
  return { body: { t: 'error', type, message, trace: '', explained: 'wholly' } };
}

/** What the prelude says of an exception. A skill could have said it; the host checks every field. */
function errorOf(utf8: Uint8Array): Record<string, unknown> {
  try {
    const told = JSON.parse(Buffer.from(utf8.subarray(0, MAX_ERROR_BYTES)).toString('utf8')) as Record<
      string,
      unknown
    >;
    const { type, message, trace, denied, explained } = told;
    return { type, message, trace, denied, explained };
  } catch {
    return { type: 'Error', message: 'The skill failed, and its error cannot be told', trace: '' };
  }
}

/** A cell that cannot even be made ready. */
export function describeStart(error: unknown): Record<string, unknown> {
  if (error instanceof GuestEnd && error.kind === 'limit') return limited(error.detail).body;
  return failed('Trap', error instanceof Error ? error.message : String(error)).body;
}
