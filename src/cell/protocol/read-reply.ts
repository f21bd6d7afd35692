/**
 * Reads a reply that was too large for the event loop. Pure functions of bytes, which run in worker threads.
 *
 * @module
 */
import type { GuestReply, UnreadForm } from '../contract.ts';
import { asError } from './guest-frames.ts';
import { parseGuestJson } from './guest-json.ts';

/** A parsed reply. It is valid JSON, but otherwise unchecked. */
export type ReadReply = Exclude<GuestReply, { kind: 'unread' }>;

export function readReply(form: UnreadForm, bytes: Uint8Array): ReadReply {
  try {
    const { value, warnings } = parseGuestJson(bytes, form === 'value' ? 0 : 1);
    if (form === 'value') return { kind: 'result', value, warnings };
    // An object: the text starts with `{"t":` and has no duplicate keys.
    const body = value as Record<string, unknown>;
    return form === 'error' ? asError(body) : { kind: 'result', value: body['value'] ?? null, warnings };
  } catch (error) {
    return unreadable(form, error instanceof Error ? error.message : String(error));
  }
}

/** The outcome of a call whose reply is invalid. */
export function unreadable(form: UnreadForm, reason: string): Exclude<ReadReply, { kind: 'result' }> {
  if (form !== 'value') return { kind: 'broken', message: reason };
  return { kind: 'error', type: 'NotJson', message: `the result is ${reason}`, trace: '' };
}
