/**
 * Shows what is being transferred: on a terminal one line with a bar, otherwise a line for whatever takes longer than a second.
 *
 * @module
 */
import { printableLine } from '../inside.ts';
import { paint, printNote } from './output.ts';

const SLOW_MS = 1000;
const REDRAW_MS = 100;
const BAR_WIDTH = 20;
const ERASE_LINE = '\r\u001b[2K';

/** Pass `onProgress` to a source, and dispose of this at its end. */
export class LiveTransfer implements Disposable {
  readonly #startedAt = performance.now();
  readonly #isLive = process.stderr.isTTY;
  #drawnAt = 0;
  #said = '';
  #isShown = false;

  readonly onProgress = (done: number, total: number | undefined, what: string): void => {
    const now = performance.now();
    if (this.#isLive) {
      if (now - this.#drawnAt < REDRAW_MS) return;
      this.#drawnAt = now;
      const width = Math.max(20, (process.stderr.columns ?? 80) - 1);
      process.stderr.write(
        `${ERASE_LINE}${paint('dim', describeTransfer(done, total, what).slice(0, width))}`,
      );
      this.#isShown = true;
    } else if (now - this.#startedAt > SLOW_MS && this.#said !== what) {
      this.#said = what;
      printNote(describeTransfer(done, total, what));
    }
  };

  /** Before other output, and at the end. */
  clear(): void {
    if (this.#isShown) process.stderr.write(ERASE_LINE);
    this.#isShown = false;
  }

  [Symbol.dispose](): void {
    this.clear();
  }
}

/** `[==========          ] 1.0 of 2.0 MB the layer "sha256:…"`. */
export function describeTransfer(done: number, total: number | undefined, what: string): string {
  const [unit, size] = Math.max(done, total ?? 0) < 1e6 ? ['kB', 1e3] : ['MB', 1e6];
  const shown = (value: number): string => (value / size).toFixed(1);
  if (total === undefined || total <= 0) return printableLine(`${shown(done)} ${unit} ${what}`);
  const part = Math.min(1, Math.max(0, done / total));
  const bar = '='.repeat(Math.round(part * BAR_WIDTH)).padEnd(BAR_WIDTH);
  return printableLine(`[${bar}] ${shown(Math.min(done, total))} of ${shown(total)} ${unit} ${what}`);
}
