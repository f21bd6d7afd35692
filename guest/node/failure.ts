/**
 * What a failed call is told as. An error of a skill may be anything, and do anything when it is looked at.
 *
 * @module
 */
import { causesOf, denialBehind, type Reporter } from './denials.ts';
import { NotJson } from '../wasm/js/prelude/json.ts';

const MAX_TEXT = 10_000;
/** Failures of the system, in which somebody else may have a part, such as the gateway. */
const SYSTEM_CODE = /^(?:E[A-Z0-9]+|UND_ERR_\w+|ERR_(?:HTTP|PROXY|SOCKET|SSL|TLS|ACCESS)\w*)$/;

export interface Failure {
  type: string;
  message: string;
  trace: string;
  denied?: unknown;
  explained?: 'inside' | 'wholly';
  limit?: string;
}

/** `reporter` is that of the cell; there is none outside of one. */
export function describeFailure(error: unknown, reporter?: Reporter): Failure {
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

/** The limit that the kernel's or V8's answer stands for, if it does. */
function limitBehind(error: unknown): string | undefined {
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

/** The skill's own lines: ours and those of Node help nobody. */
function traceOf(stack: string): string {
  const own = new URL('..', import.meta.url).href;
  return stack
    .slice(0, MAX_TEXT)
    .split('\n')
    .filter((line) => !/^\s+at .*(?:\(|\s)node:/.test(line) && !line.includes(own) && line.trim() !== '')
    .join('\n')
    .toWellFormed();
}
