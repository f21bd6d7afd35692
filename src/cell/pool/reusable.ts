/**
 * The warm processes of one skill and grant. Each serves one call at a time; a call waits when all are busy.
 *
 * @module
 */
import { availableParallelism } from 'node:os';
import type { CellReport, Job } from '../contract.ts';
import { cellReport } from '../protocol/report.ts';
import type { CellSource } from './pool.ts';
import { startWarm, type WarmPlace } from '../protocol/start-warm.ts';
import type { WarmCell } from '../protocol/warm-cell.ts';

/** A process is replaced after this many calls. */
const CALLS_PER_PROCESS = 20_000;
/** Calls this close to the previous reply count as back-to-back. */
const BACK_TO_BACK_MS = 10;
/** Back-to-back calls before a second process is worth the second of CPU time that its start costs. */
const BACK_TO_BACK_CALLS = 50;

export interface ReusablePoolOptions {
  idleMs: number;
  onIdle: () => void;
  /** Throws if the runtime is closed. */
  assertOpen: () => void;
}

/** Called with a process that has become free, or with undefined if there is room for a new one. */
type Waiter = (cell: WarmCell | undefined) => void;

export class ReusablePool implements CellSource {
  readonly #place: WarmPlace;
  readonly #options: ReusablePoolOptions;
  readonly #maxProcesses = Math.max(2, availableParallelism());
  readonly #waiting: Waiter[] = [];
  readonly #cells = new Set<WarmCell>();
  readonly #idleTimer: NodeJS.Timeout;
  #idle: WarmCell[] = [];
  #lastReply = 0;
  #backToBack = 0;
  #closed = false;

  constructor(place: WarmPlace, options: ReusablePoolOptions) {
    this.#place = place;
    this.#options = options;
    this.#idleTimer = setTimeout(options.onIdle, options.idleMs).unref();
  }

  async call(job: Job): Promise<CellReport> {
    const { signal } = job;
    if (!this.#closed) this.#idleTimer.refresh();
    const cell =
      this.#take() ?? (await this.#waitForTurn(signal)) ?? (signal?.aborted ? undefined : this.#start());
    if (!cell) return cellReport({ start: 'warm', killReason: 'aborted' });
    try {
      return await cell.call(job.params, signal, job);
    } finally {
      this.#release(cell);
    }
  }

  async warm(): Promise<void> {
    if (this.#cells.size === 0) this.#idle.push(this.#start());
    await Promise.all([...this.#cells].map((cell) => cell.ready));
  }

  /** Running and waiting calls finish first; their processes end with them. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#idleTimer);
    for (const cell of this.#idle.splice(0)) this.#retire(cell);
  }

  #take(): WarmCell | undefined {
    for (let cell = this.#next(); cell; cell = this.#next()) {
      if (!cell.isDead) return cell;
      this.#cells.delete(cell);
    }
    return this.#cells.size < this.#maxProcesses ? this.#start() : undefined;
  }

  /** The idle process used last, whose caches are warm; or with `takesTurns`, the one idle for longest. */
  #next(): WarmCell | undefined {
    if (!this.#place.engine.takesTurns) return this.#idle.pop();
    this.#backToBack = performance.now() - this.#lastReply < BACK_TO_BACK_MS ? this.#backToBack + 1 : 0;
    if (this.#backToBack >= BACK_TO_BACK_CALLS && this.#cells.size === 1 && !this.#closed)
      this.#idle.push(this.#start());
    const ready = this.#idle.findIndex((cell) => cell.isReady);
    return this.#idle.splice(Math.max(0, ready), 1)[0];
  }

  /** Waits for a process to become free, or for the caller to cancel. */
  #waitForTurn(signal: AbortSignal | undefined): Promise<WarmCell | undefined> {
    return new Promise((resolve) => {
      const giveUp = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(wake), 1);
        resolve(undefined);
      };
      const wake: Waiter = (cell) => {
        signal?.removeEventListener('abort', giveUp);
        resolve(cell);
      };
      this.#waiting.push(wake);
      signal?.addEventListener('abort', giveUp, { once: true });
      if (signal?.aborted) giveUp();
    });
  }

  #release(cell: WarmCell): void {
    this.#lastReply = performance.now();
    const isSpent = cell.isDead || cell.calls >= CALLS_PER_PROCESS;
    const next = this.#waiting.shift();
    if (isSpent || (this.#closed && !next)) this.#retire(cell);
    if (next) next(isSpent ? undefined : cell);
    else if (this.#cells.has(cell)) this.#idle.push(cell);
  }

  #retire(cell: WarmCell): void {
    this.#cells.delete(cell);
    cell.close();
  }

  #start(): WarmCell {
    try {
      this.#options.assertOpen();
      const cell = startWarm(this.#place);
      this.#cells.add(cell);
      return cell;
    } catch (error) {
      // No other process may be left to be released, so the next waiting call has to try on its own.
      this.#waiting.shift()?.(undefined);
      throw error;
    }
  }
}
