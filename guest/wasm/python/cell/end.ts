/**
 * What a call ended with when it did not end by itself.
 *
 * @module
 */
import { OutOfMemory } from '../engine/interpreter.ts';
import type { Answer } from './contract.ts';
import { ChannelFault } from './guest-channel.ts';

/** Undefined after a trap: then the process is used no more, as one that died by a signal. */
export function describeEnd(error: unknown): Answer | undefined {
  const message = error instanceof Error ? error.message : String(error);
  const failed = (type: string, rest: Record<string, unknown> = {}): Answer => ({
    body: { t: 'error', type, message, trace: '', ...rest },
  });
  if (error instanceof OutOfMemory) return failed('MemoryError', { limit: 'memory' });
  if (error instanceof ChannelFault)
    return failed('ProtocolError', error.limit ? { limit: error.limit } : {});
  // Frames of the engine lie on the stack of JavaScript, which ended before Python's own limit did.
  if (error instanceof RangeError && message.includes('call stack'))
    return failed('RecursionError', { message: 'maximum recursion depth exceeded: nested too deeply' });
  return undefined;
}
