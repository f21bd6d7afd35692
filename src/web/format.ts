/**
 * Formats numbers and times for display.
 *
 * @module
 */
import type { ErrorCode } from '../vocabulary/error-codes.ts';
import type { Mode } from '../vocabulary/modes.ts';

export function ms(value: number): string {
  if (value === 0) return '0 ms';
  if (value < 1) return `${value.toFixed(2)} ms`;
  if (value < 100) return `${value.toFixed(1)} ms`;
  return value < 10_000 ? `${Math.round(value)} ms` : `${(value / 1000).toFixed(1)} s`;
}

export function bytes(value: number): string {
  if (value < 1024) return `${value} B`;
  const kib = value / 1024;
  return kib < 1024 ? `${kib.toFixed(0)} KiB` : `${(kib / 1024).toFixed(1)} MiB`;
}

export function clock(iso: string): string {
  return new Date(iso).toLocaleTimeString(undefined, { hour12: false });
}

/** A label for the end of an axis; `withDay` adds the date. */
export function axisTime(iso: string, withDay: boolean): string {
  const options: Intl.DateTimeFormatOptions = { hour: '2-digit', minute: '2-digit', hour12: false };
  return new Date(iso).toLocaleString(
    undefined,
    withDay ? { ...options, month: 'short', day: 'numeric' } : options,
  );
}

export function day(iso: string): string {
  return new Date(iso).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium', hour12: false });
}

/** Enough characters to distinguish digests. */
export function shortDigest(digest: string): string {
  return digest.replace(/^sha256:/, '').slice(0, 12);
}

const STATUS_WORDS: Record<'ok' | ErrorCode, string> = {
  ok: 'ok',
  skill_error: 'skill failed',
  usage: 'invalid request',
  invalid_params: 'invalid parameters',
  manifest_invalid: 'invalid manifest',
  manifest_drift: 'changed',
  unenforceable: 'not enforceable',
  capability_denied: 'denied',
  resource_exceeded: 'limit exceeded',
  untrusted: 'not trusted',
  approval_required: 'needs approval',
  signature_invalid: 'invalid signature',
  skill_unavailable: 'unavailable',
  outcome_unknown: 'unknown',
  internal: 'internal error',
  cancelled: 'cancelled',
};

/** The status of a past call in a word or two. */
export function statusText(code: string, limit?: string): string {
  const words: Partial<Record<string, string>> = STATUS_WORDS;
  const word = words[code] ?? code;
  return limit === undefined ? word : `${word}: ${limit}`;
}

export const CODES: readonly string[] = Object.keys(STATUS_WORDS);

const MODE_WORDS: Record<Mode, string> = {
  in_process: 'in the process of the service, without isolation',
  subprocess: 'as a process in an OS jail',
  wasm: 'as WebAssembly',
  container: 'in a container made from an image',
};

export const MODES: readonly string[] = Object.keys(MODE_WORDS);

/** Where a call of this mode runs, in words. */
export function modeWords(mode: string): string {
  const words: Partial<Record<string, string>> = MODE_WORDS;
  return words[mode] ?? `in the mode ${mode}`;
}
