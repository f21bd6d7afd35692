/**
 * How a call ended, in the form that the host expects.
 *
 * @module
 */
import { GuestEnd } from '../../contract.ts';
import type { QuickJs } from '../engine/quickjs.ts';
import type { FailureFields, Unchecked } from '../../../protocol.ts';
import type { Answer, Failed } from '../../cell/channel.ts';
import type { Reply } from './running.ts';
import { outsideName } from '../../cell/limit-names.ts';
import { CompilerLost } from './program.ts';

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
  const isFull = engine.hasFailedToGrow && OUT_OF_MEMORY.test(String(error.type));
  return { body: { t: 'error', ...error, ...(isFull ? { limit: 'memory' } : {}) } };
}

/** The result of a call that did not reply. */
export function describeEnd(error: unknown, engine: QuickJs): Answer {
  if (error instanceof CompilerLost) {
    const { body } = failed('SyntaxError', error.message);
    return { body: { ...body, exits: true } };
  }
  if (error instanceof GuestEnd && error.kind === 'limit') return limited(error.detail);
  if (error instanceof GuestEnd && error.kind === 'exit') return failed('NeverSettled', NEVER_SETTLED);
  if (engine.fuel < 0n) return limited('fuel');
  if (engine.hasFailedToGrow) return limited('memory');
  // The engine's frames are on the V8 stack, which overflowed before the engine's own limit.
  if (error instanceof RangeError && error.message.includes('call stack'))
    return failed('RangeError', 'Maximum call stack size exceeded');
  return failed('Trap', error instanceof Error ? error.message : String(error));
}

const NEVER_SETTLED =
  'The promise of the skill can never settle: nothing is left to run, and no timer, request or file is waited for';

function limited(name: string): { body: Failed } {
  return {
    body: { t: 'error', type: 'Limit', message: name, trace: '', limit: outsideName(name) },
  };
}

function failed(type: string, message: string): { body: Failed } {
  return { body: { t: 'error', type, message, trace: '', explained: 'wholly' } };
}

/** The prelude's description of an exception. A skill could have forged it; the host checks every field. */
function errorOf(utf8: Uint8Array): Unchecked<FailureFields> {
  try {
    const text = Buffer.from(utf8.subarray(0, MAX_ERROR_BYTES)).toString('utf8');
    const report = JSON.parse(text) as Unchecked<FailureFields>;
    const { type, message, trace, denied, explained } = report;
    return { type, message, trace, denied, explained };
  } catch {
    return { type: 'Error', message: 'The skill failed, and its error cannot be shown', trace: '' };
  }
}

/** The result for a cell that could not be prepared. */
export function describeStart(error: unknown): Failed {
  if (error instanceof GuestEnd && error.kind === 'limit') return limited(error.detail).body;
  return failed('Trap', error instanceof Error ? error.message : String(error)).body;
}
