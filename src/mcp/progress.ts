/**
 * Sends progress notifications to a client that requested them, so that it does not time out during a long call.
 *
 * @module
 */
import type { ServerContext } from '@modelcontextprotocol/server';

const EVERY_MS = 1000;

export class Progress implements Disposable {
  readonly #request: ServerContext['mcpReq'];
  readonly #startedAt = performance.now();
  readonly #total: { total?: number };
  readonly #timer: NodeJS.Timeout | undefined;
  #message = 'preparing';

  /** `timeout` in milliseconds, if the manifest sets one. */
  constructor({ mcpReq }: ServerContext, timeout: number | undefined) {
    this.#request = mcpReq;
    this.#total = timeout === undefined ? {} : { total: timeout / 1000 };
    if (this.#token === undefined) return;
    this.report(this.#message);
    this.#timer = setInterval(() => this.report(this.#message), EVERY_MS);
  }

  /** Sends the message now, and again every second. */
  report(message: string): void {
    const progressToken = this.#token;
    if (progressToken === undefined) return;
    this.#message = message;
    const progress = (performance.now() - this.#startedAt) / 1000;
    const params = { progressToken, progress, ...this.#total, message };
    // Ignored: if the client disconnected, its signal cancels the call.
    this.#request.notify({ method: 'notifications/progress', params }).catch(() => undefined);
  }

  /** Sends the message with the next regular notification: output can come in thousands of pieces. */
  note(message: string): void {
    this.#message = message;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  get #token(): string | number | undefined {
    const { _meta: meta } = this.#request;
    return meta?.progressToken;
  }
}
