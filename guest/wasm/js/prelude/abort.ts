/**
 * AbortController and AbortSignal.
 *
 * @module
 */
import { setTimeout } from './timers.ts';

type Listener = (event: { type: 'abort'; target: AbortSignal }) => void;

export class AbortSignal {
  aborted = false;
  reason: unknown;
  onabort: Listener | null = null;
  readonly #listeners = new Set<Listener>();

  static abort(reason?: unknown): AbortSignal {
    const signal = new AbortSignal();
    abort(signal, reason);
    return signal;
  }

  static timeout(milliseconds: number): AbortSignal {
    const signal = new AbortSignal();
    setTimeout(
      () => abort(signal, new DOMException('The operation timed out', 'TimeoutError')),
      milliseconds,
    );
    return signal;
  }

  static any(signals: Iterable<AbortSignal>): AbortSignal {
    const all = new AbortSignal();
    for (const signal of signals) {
      if (signal.aborted) abort(all, signal.reason);
      else signal.addEventListener('abort', () => abort(all, signal.reason));
    }
    return all;
  }

  throwIfAborted(): void {
    if (this.aborted) throw this.reason;
  }

  addEventListener(type: string, listener: Listener): void {
    if (type === 'abort') this.#listeners.add(listener);
  }

  removeEventListener(type: string, listener: Listener): void {
    if (type === 'abort') this.#listeners.delete(listener);
  }

  dispatch(): void {
    const event = { type: 'abort', target: this } as const;
    this.onabort?.(event);
    for (const listener of this.#listeners) listener(event);
    this.#listeners.clear();
  }
}

export class AbortController {
  readonly signal: AbortSignal = new AbortSignal();

  abort(reason?: unknown): void {
    abort(this.signal, reason);
  }
}

function abort(signal: AbortSignal, reason: unknown): void {
  if (signal.aborted) return;
  signal.aborted = true;
  signal.reason = reason ?? new DOMException('The operation was aborted', 'AbortError');
  signal.dispatch();
}
