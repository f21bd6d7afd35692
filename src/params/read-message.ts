/**
 * Reads a client message that contains the parameters of a call. A worker thread parses a large one, and its parameters stay
 * text.
 *
 * @module
 */
import { SkillError } from '../errors.ts';
import { JsonText, MAX_JSON_HERE } from '../json-text.ts';
import type { Offload } from '../offload/offload.ts';
import { copiedBytes, TaskEndedError } from '../offload/task.ts';
import { SPLIT_MESSAGE } from './tasks.ts';

const DEADLINE_MS = 10_000;

export interface MessageOptions {
  /** The member that stays text, e.g. `params`. */
  path: readonly string[];
  /** The sender; worker threads serve senders in turn. */
  owner: string;
  signal?: AbortSignal | undefined;
}

export interface ReadMessage {
  /** The message with `{}` in place of the member that stays text. */
  message: unknown;
  /** The members that stay text: one per message of a list, or one. */
  parts: (JsonText | undefined)[];
}

/** Throws `usage` if the message is not JSON, or if anything but the named member is large. */
export async function readMessage(
  given: Uint8Array,
  { path, owner, signal }: MessageOptions,
  offload: Offload,
): Promise<ReadMessage> {
  const bytes = copiedBytes(given);
  const options = { deadlineMs: DEADLINE_MS, owner, tenant: owner, transfer: [bytes], signal };
  try {
    const input = { bytes, path, maxRest: MAX_JSON_HERE };
    const { rest, parts } = await offload.run(SPLIT_MESSAGE, input, options);
    return { message: JSON.parse(rest), parts: parts.map((part) => part && new JsonText(part)) };
  } catch (error) {
    if (!(error instanceof TaskEndedError)) throw error;
    throw new SkillError('usage', `The message could not be read: ${error.message}`, {
      fix: 'Send a smaller message.',
    });
  }
}
