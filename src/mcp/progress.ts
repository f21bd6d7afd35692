/**
 * Tells a client that asked for it that its call goes on, so that it does not give up while a cell works.
 *
 * @module
 */
import type { ServerContext } from '@modelcontextprotocol/server';

const EVERY_MS = 1000;

export class Progress implements Disposable {
  readonly #request: ServerContext['mcpReq'];
  readonly #begun = performance.now();
  readonly #total: { total?: number };
  readonly #timer: NodeJS.Timeout | undefined;
  #message = 'getting ready';

  /** `timeout` in milliseconds, when the skill has one of its own. */
  constructor({ mcpReq }: ServerContext, timeout: number | undefined) {
    this.#request = mcpReq;
    this.#total = timeout === undefined ? {} : { total: timeout / 1000 };
    if (this.#token === undefined) return;
    this.tell(this.#message);
    this.#timer = setInterval(() => this.tell(this.#message), EVERY_MS);
  }

  /** What is going on; said again every second. */
  tell(message: string): void {
    const progressToken = this.#token;
    if (progressToken === undefined) return;
    this.#message = message;
    const progress = (performance.now() - this.#begun) / 1000;
    const params = { progressToken, progress, ...this.#total, message };
    // A client that went away ends the call by its signal; there is nobody to tell.
    this.#request.notify({ method: 'notifications/progress', params }).catch(() => undefined);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  get #token(): string | number | undefined {
    const { _meta: meta } = this.#request;
    return meta?.progressToken;
  }
}
