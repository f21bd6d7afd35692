/**
 * Reads a reply that was too large for the thread of the event loop. Pure functions of bytes: worker threads run them.
 *
 * @module
 */
import type { GuestReply, UnreadForm } from './contract.ts';
import { asError } from './guest-frames.ts';
import { parseGuestJson } from './guest-json.ts';

/** A reply that has been read; what it says may still break every rule but those of JSON. */
export type ReadReply = Exclude<GuestReply, { kind: 'unread' }>;

export function readReply(form: UnreadForm, bytes: Uint8Array): ReadReply {
  try {
    const { value, warnings } = parseGuestJson(bytes, form === 'value' ? 0 : 1);
    if (form === 'value') return { kind: 'result', value, warnings };
    // It begins with `{"t":`, and no key stands twice.
    const body = value as Record<string, unknown>;
    return form === 'error' ? asError(body) : { kind: 'result', value: body['value'] ?? null, warnings };
  } catch (error) {
    return unreadable(form, error instanceof Error ? error.message : String(error));
  }
}

/** The end of a call whose reply is not what it has to be. */
export function unreadable(form: UnreadForm, reason: string): Exclude<ReadReply, { kind: 'result' }> {
  if (form !== 'value') return { kind: 'broken', message: reason };
  return { kind: 'error', type: 'NotJson', message: `the result is ${reason}`, trace: '' };
}
