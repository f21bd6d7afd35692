/**
 * A status line on the terminal during a long call: where it runs, and for how long so far.
 *
 * @module
 */
import type { CallEvent } from '../inside.ts';
import { paint } from './output.ts';

/** For shorter calls the line would only flicker. */
const AFTER_MS = 500;
const ERASE_LINE = '\r\u001b[2K';

/** Pass it the events of the call, and dispose of it at the end. Without a terminal it does nothing. */
export class LiveStatus implements Disposable {
  readonly #startedAt = performance.now();
  readonly #timer: NodeJS.Timeout | undefined;
  #where = 'preparing';
  #isShown = false;

  constructor() {
    if (process.stderr.isTTY) this.#timer = setInterval(() => this.#show(), AFTER_MS).unref();
  }

  readonly onEvent = (event: CallEvent): void => {
    if (event.type !== 'started') return;
    const { mode, wall, engine } = event.execution;
    this.#where = `${mode} · ${wall} · ${engine}`;
  };

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    if (this.#isShown) process.stderr.write(ERASE_LINE);
  }

  #show(): void {
    const seconds = ((performance.now() - this.#startedAt) / 1000).toFixed(1);
    process.stderr.write(`${ERASE_LINE}${paint('dim', `${this.#where} · ${seconds} s`)}`);
    this.#isShown = true;
  }
}
