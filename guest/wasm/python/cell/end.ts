/**
 * The result of a call that did not end by itself.
 *
 * @module
 */
import { OutOfMemory } from '../engine/interpreter.ts';
import type { FailureFields } from '../../../protocol.ts';
import type { Failed } from '../../cell/channel.ts';
import { ChannelFault } from './guest-channel.ts';

/** Undefined after a trap: the process is then discarded, like one that died of a signal. */
export function describeEnd(error: unknown): { body: Failed } | undefined {
  const message = error instanceof Error ? error.message : String(error);
  const failed = (type: string, rest: Partial<FailureFields> = {}): { body: Failed } => ({
    body: { t: 'error', type, message, trace: '', ...rest },
  });
  if (error instanceof OutOfMemory) return failed('MemoryError', { limit: 'memory' });
  if (error instanceof ChannelFault)
    return failed('ProtocolError', error.limit ? { limit: error.limit } : {});
  // The engine's frames are on the JavaScript stack, which overflowed before Python's own limit.
  if (error instanceof RangeError && message.includes('call stack'))
    return failed('RecursionError', { message: 'maximum recursion depth exceeded: nested too deeply' });
  return undefined;
}
