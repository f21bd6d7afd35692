/**
 * Shows what an installation is doing: on a terminal one line that changes, otherwise a line for each step that takes
 * longer than a second.
 *
 * @module
 */
import { type InstallProgress, type InstallStep, printableLine } from '../inside.ts';
import { paint, printNote } from './output.ts';

const SLOW_MS = 1000;
const REDRAW_MS = 250;
const ERASE_LINE = '\r\u001b[2K';

const WORDS: Record<InstallStep, string> = {
  resolve: 'Resolving',
  download: 'Downloading',
  unpack: 'Installing',
  link: 'Linking',
};

/** Pass `onInstall` to an installation, and dispose of this at its end. */
export class LiveInstall implements Disposable {
  readonly #startedAt = performance.now();
  readonly #isLive = process.stderr.isTTY;
  #timer: NodeJS.Timeout | undefined;
  #current: InstallProgress | undefined;
  /** Whether anything had to be done. */
  hasWorked = false;

  readonly onInstall = (progress: InstallProgress): void => {
    const isNew = this.#current?.what !== progress.what || this.#current.step !== progress.step;
    this.#current = progress;
    this.hasWorked = true;
    if (!isNew) return;
    clearInterval(this.#timer);
    if (this.#isLive) this.#timer = setInterval(() => this.#draw(), REDRAW_MS).unref();
    else this.#timer = setTimeout(() => printNote(describeStep(progress)), SLOW_MS).unref();
  };

  get elapsed(): string {
    return `${((performance.now() - this.#startedAt) / 1000).toFixed(1)} s`;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    if (this.#isLive && this.hasWorked) process.stderr.write(ERASE_LINE);
  }

  #draw(): void {
    if (!this.#current) return;
    const width = Math.max(20, (process.stderr.columns ?? 80) - 1);
    const line = `${describeStep(this.#current)} · ${this.elapsed}`.slice(0, width);
    process.stderr.write(`${ERASE_LINE}${paint('dim', line)}`);
  }
}

/** `Downloading numpy-2.2.1.whl (4.2 of 16.1 MB) for python`. */
function describeStep({ step, engine, what, bytes, totalBytes }: InstallProgress): string {
  const size = describeBytes(bytes, totalBytes);
  return printableLine(`${WORDS[step]} ${what}${size} for ${engine}`);
}

function describeBytes(bytes: number | undefined, total: number | undefined): string {
  const inMegabytes = (value: number): string => (value / 1e6).toFixed(1);
  if (total === undefined) return bytes === undefined ? '' : ` (${inMegabytes(bytes)} MB)`;
  if (bytes === undefined) return ` (${inMegabytes(total)} MB)`;
  return ` (${inMegabytes(Math.min(bytes, total))} of ${inMegabytes(total)} MB)`;
}
