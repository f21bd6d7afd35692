/**
 * Describes a failed call. A skill can throw any value, and its getters can run any code.
 *
 * @module
 */
import { causesOf, denialBehind, type Reporter } from './denials.ts';
import type { FailureFields } from '../protocol.ts';
import { NotJson } from '../wasm/js/prelude/json.ts';

const MAX_TEXT = 10_000;
/** System errors, behind which the gateway or the kernel may have denied something. */
const SYSTEM_CODE = /^(?:E[A-Z0-9]+|UND_ERR_\w+|ERR_(?:HTTP|PROXY|SOCKET|SSL|TLS|ACCESS)\w*)$/;

/** `reporter` is absent outside of a cell. */
export function describeFailure(error: unknown, reporter?: Reporter): FailureFields {
  const denied = guarded(() => denialBehind(error, reporter));
  const limit = guarded(() => limitBehind(error));
  return {
    type:
      error instanceof NotJson
        ? 'NotJson'
        : (textOf(() => (error as Error).name) ?? textOf(() => typeof error) ?? 'Error'),
    message:
      textOf(() => (error as Error).message) ?? textOf(() => String(error)) ?? 'an error that has no text',
    trace: guarded(() => traceOf((error as Error).stack ?? '')) ?? '',
    ...(denied ? { denied } : { explained: guarded(() => explained(error)) ?? 'wholly' }),
    ...(limit === undefined ? {} : { limit }),
  };
}

function explained(error: unknown): 'inside' | 'wholly' {
  if (error instanceof NotJson) return 'wholly';
  for (const cause of causesOf(error)) {
    const { code } = cause as { code?: unknown };
    if (typeof code === 'string' && SYSTEM_CODE.test(code)) return 'inside';
  }
  return 'wholly';
}

/** Returns the limit that an error of the kernel or V8 stands for, if any. */
export function limitBehind(error: unknown): string | undefined {
  for (const cause of causesOf(error)) {
    const { code, syscall, message } = cause as NodeJS.ErrnoException;
    if (code === 'ENOMEM' || code === 'ERR_WORKER_OUT_OF_MEMORY' || code === 'ERR_MEMORY_ALLOCATION_FAILED')
      return 'memory';
    if (cause instanceof RangeError && message === 'Array buffer allocation failed') return 'memory';
    if (code === 'ENOSPC' || code === 'EFBIG' || code === 'EDQUOT') return 'scratch';
    if (code === 'EAGAIN' && syscall?.startsWith('spawn') === true) return 'processes';
  }
  return undefined;
}

function textOf(read: () => unknown): string | undefined {
  const text = guarded(read);
  return typeof text === 'string' && text !== '' ? text.slice(0, MAX_TEXT).toWellFormed() : undefined;
}

function guarded<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** Keeps only the skill's own lines, without ours and Node's. */
function traceOf(stack: string): string {
  const own = new URL('..', import.meta.url).href;
  return stack
    .slice(0, MAX_TEXT)
    .split('\n')
    .filter((line) => !/^\s+at .*(?:\(|\s)node:/.test(line) && !line.includes(own) && line.trim() !== '')
    .join('\n')
    .toWellFormed();
}
