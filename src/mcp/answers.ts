/**
 * Backpressure for answers to a client over a pipe. While a client does not read them, its requests are not read either;
 * if it does not resume, the connection is closed. Otherwise unread answers would fill the memory.
 *
 * @module
 */
import { Writable } from 'node:stream';
import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import { SkillError, UNREAD_MS } from '../inside.ts';

/** Above this many unread bytes, no further request is read. */
export const MAX_UNREAD_AHEAD: number = 1024 * 1024;
/** Running calls may add more, up to this; then the connection is closed immediately. */
export const MAX_UNREAD_BYTES: number = 64 * 1024 * 1024;
/** Maximum number of concurrent requests; larger than the number of calls that may run and wait. */
export const MAX_UNANSWERED = 512;
/** Bytes per write, so that a slow reader visibly makes progress. */
const PIECE_BYTES = 64 * 1024;

export interface AnswersOptions {
  /** Calls `done` when the client, or the kernel's pipe buffer, has taken the bytes. */
  print: (bytes: Buffer, done: (error?: Error | null) => void) => void;
  /** How long a piece may stay unread, in milliseconds. */
  unreadMs?: number | undefined;
}

export class Answers extends Writable {
  readonly #options: AnswersOptions;
  /** Ids of requests that have no answer yet. */
  readonly #unanswered = new Set<unknown>();
  #timer: NodeJS.Timeout | undefined;
  #changed = Promise.withResolvers<void>();

  constructor(options: AnswersOptions) {
    super({ highWaterMark: MAX_UNREAD_AHEAD });
    this.#options = options;
    for (const event of ['drain', 'close'] as const) this.on(event, () => this.#change());
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#print(chunk, done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    clearTimeout(this.#timer);
    done(error);
  }

  /**
   * Call it for each incoming message. Returns false for a request whose id another one without an answer has: it must not
   * be handled, because requests with one id could not be told apart and would count as one.
   */
  trackIncoming(message: JSONRPCMessage): boolean {
    if (!('method' in message)) return true;
    // A cancelled request gets no answer.
    if (message.method === 'notifications/cancelled') this.#settle(message.params?.['requestId']);
    // A subscription is answered only when it ends; the SDK limits their number.
    if (!('id' in message) || message.method === 'subscriptions/listen') return true;
    if (this.#unanswered.has(message.id)) return false;
    this.#unanswered.add(message.id);
    return true;
  }

  /** Call it for each outgoing message. */
  trackOutgoing(message: JSONRPCMessage): void {
    if (!('method' in message)) this.#settle(message.id);
    if (this.writableLength > MAX_UNREAD_BYTES)
      this.destroy(unread(`: more than ${MAX_UNREAD_BYTES} bytes are waiting`));
  }

  /** Resolves when another request may be read. */
  async ready(): Promise<void> {
    while (!this.destroyed && (this.writableNeedDrain || this.#unanswered.size >= MAX_UNANSWERED))
      await this.#changed.promise;
  }

  /** Resolves when the client has read everything, or the connection is gone. */
  async flush(): Promise<void> {
    while (!this.destroyed && this.writableLength > 0)
      await new Promise<void>((resolve) => {
        this.once('close', resolve).write('', () => resolve());
      });
  }

  #print(bytes: Buffer, done: (error?: Error | null) => void): void {
    const { print, unreadMs = UNREAD_MS } = this.#options;
    this.#timer = setTimeout(() => this.destroy(unread(` for ${unreadMs / 1000} s`)), unreadMs);
    const rest = bytes.subarray(PIECE_BYTES);
    print(bytes.subarray(0, PIECE_BYTES), (error) => {
      clearTimeout(this.#timer);
      if (error || rest.length === 0) done(error);
      else if (!this.destroyed) this.#print(rest, done);
    });
  }

  #settle(id: unknown): void {
    this.#unanswered.delete(id);
    this.#change();
  }

  #change(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}

function unread(how: string): SkillError {
  return new SkillError('resource_exceeded', `The client has not read its answers${how}`, {
    fix: 'Make the client read the standard output of this process.',
    detail: { limit: 'output' },
  });
}
