/**
 * Reads the body of an answer within limits. What arrived before a fault is kept, so that a download can be resumed.
 *
 * @module
 */
import type { IncomingMessage } from 'node:http';
import { silence, toFault } from './exchange.ts';
import { wrongSize } from './problems.ts';

export interface BodyLimits {
  readonly what: string;
  readonly maxBytes: number;
  readonly silenceMs: number;
  readonly onBytes?: ((count: number) => void) | undefined;
}

/** Appends to `chunks`, which keeps what arrived if this throws. */
export async function readInto(
  chunks: Buffer[],
  message: IncomingMessage,
  limits: BodyLimits,
): Promise<void> {
  let length = lengthOf(chunks);
  const announced = announcedLength(message);
  if (announced !== undefined && length + announced > limits.maxBytes) {
    message.destroy();
    throw tooLarge(limits);
  }
  message.setTimeout(limits.silenceMs, () => message.destroy(silence(limits.silenceMs)));
  try {
    for await (const chunk of message as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > limits.maxBytes) throw tooLarge(limits);
      append(chunks, chunk);
      limits.onBytes?.(length);
    }
  } catch (error) {
    message.destroy();
    throw toFault(error);
  }
}

/** Chunks of this size are kept as they are. */
const BLOCK_BYTES = 16 * 1024;

/**
 * Joins small chunks as they come, equal sizes first: a server that sends one byte at a time would otherwise fill the memory,
 * because each chunk takes a hundred bytes and keeps alive what it was cut from.
 */
export function append(chunks: Buffer[], chunk: Buffer): void {
  let joined = chunk;
  for (let last = chunks.at(-1); last && canJoin(last, joined); last = chunks.at(-1)) {
    joined = Buffer.concat([last, joined]);
    chunks.pop();
  }
  chunks.push(joined);
}

function canJoin(last: Buffer, next: Buffer): boolean {
  return last.length <= next.length && last.length < BLOCK_BYTES && next.length < BLOCK_BYTES;
}

/** At most `maxBytes` of the answer to a request that failed; the rest is dropped. */
export async function readSome(
  message: IncomingMessage,
  maxBytes: number,
  silenceMs: number,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  message.setTimeout(silenceMs, () => message.destroy(silence(silenceMs)));
  try {
    for await (const chunk of message as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      if (lengthOf(chunks) >= maxBytes) break;
    }
  } catch {
    // The status says enough.
  }
  return Buffer.concat(chunks).subarray(0, maxBytes);
}

export function announcedLength({ headers }: IncomingMessage): number | undefined {
  const text = headers['content-length'];
  return text === undefined || !/^\d{1,15}$/.test(text) ? undefined : Number(text);
}

function lengthOf(chunks: readonly Buffer[]): number {
  return chunks.reduce((sum, { length }) => sum + length, 0);
}

function tooLarge({ what, maxBytes }: BodyLimits): Error {
  return wrongSize(what, `the server sends more than the ${maxBytes} bytes that are allowed here`);
}
