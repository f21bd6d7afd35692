/**
 * The warm processes of one skill and grant. Each serves one call at a time; a call waits when all that calls of its depth
 * may have are busy.
 *
 * @module
 */
import { availableParallelism } from 'node:os';
import type { CellReport, Job } from '../contract.ts';
import { cellReport } from '../protocol/report.ts';
import { DepthGates } from './gate.ts';
import type { CellSource } from './pool.ts';
import { startWarm, type TakeSpare, type WarmPlace } from '../protocol/start-warm.ts';
import type { WarmCell } from '../protocol/warm-cell.ts';

/** A process is replaced after this many calls. */
const CALLS_PER_PROCESS = 20_000;
/** Calls this close to the previous reply count as back-to-back. */
const BACK_TO_BACK_MS = 10;
/** Back-to-back calls before a second process is worth the second of CPU time that its start costs. */
const BACK_TO_BACK_CALLS = 50;

const NO_SPARE: TakeSpare = () => undefined;

export interface ReusablePoolOptions {
  idleMs: number;
  onIdle: () => void;
  /** Throws if the runtime is closed. */
  assertOpen: () => void;
  /** Processes that wait for a skill. */
  takeSpare?: TakeSpare;
}

export class ReusablePool implements CellSource {
  readonly #place: WarmPlace;
  readonly #options: ReusablePoolOptions;
  /** Each depth may keep as many processes busy as the machine has cores. */
  readonly #turns = new DepthGates({
    maxConcurrent: Math.max(2, availableParallelism()),
    maxQueue: Number.POSITIVE_INFINITY,
  });
  readonly #cells = new Set<WarmCell>();
  readonly #idleTimer: NodeJS.Timeout;
  #idle: WarmCell[] = [];
  #lastReply = 0;
  #backToBack = 0;
  #startMs: number | undefined;
  #closed = false;

  constructor(place: WarmPlace, options: ReusablePoolOptions) {
    this.#place = place;
    this.#options = options;
    this.#idleTimer = setTimeout(options.onIdle, options.idleMs).unref();
  }

  async call(job: Job): Promise<CellReport> {
    const { depth, signal, tree } = job;
    if (!this.#closed) this.#idleTimer.refresh();
    const turns = this.#turns.at(depth);
    const turn = turns.enter(signal, tree);
    if (turn && !(await entered(turn))) return cellReport({ start: 'warm', killReason: 'aborted' });
    let cell: WarmCell | undefined;
    try {
      job.onTurn?.();
      cell = this.#take();
      const report = await cell.call(job.params, signal, job);
      if (!cell.diedWaiting) return report;
      this.#release(cell);
      cell = this.#start(NO_SPARE);
      return await cell.call(job.params, signal, job);
    } finally {
      if (cell) this.#release(cell);
      turns.leave(tree);
    }
  }

  async warm(): Promise<void> {
    if (this.#cells.size === 0) this.#idle.push(this.#start());
    await Promise.all([...this.#cells].map((cell) => cell.ready));
  }

  get bytes(): number {
    return bytesOf([...this.#cells]);
  }

  get isWaiting(): boolean {
    return this.#idle.length > 0;
  }

  get waitingBytes(): number {
    return bytesOf(this.#idle);
  }

  get startMs(): number | undefined {
    for (const { startMs } of this.#cells) if (startMs !== undefined) this.#startMs = startMs;
    return this.#startMs;
  }

  /** Running and waiting calls finish first; their processes end with them. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#idleTimer);
    for (const cell of this.#idle.splice(0)) this.#retire(cell);
  }

  /** An idle process, or a new one. */
  #take(): WarmCell {
    for (let cell = this.#next(); cell; cell = this.#next()) {
      if (!cell.isDead) return cell;
      this.#cells.delete(cell);
    }
    return this.#start();
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

  #release(cell: WarmCell): void {
    this.#lastReply = performance.now();
    const isLast = this.#closed && this.#turns.queued === 0;
    if (cell.isDead || cell.calls >= CALLS_PER_PROCESS || isLast) this.#retire(cell);
    else if (this.#cells.has(cell)) this.#idle.push(cell);
    // A process that was released for a waiting call may not have been taken by it.
    if (isLast) for (const one of this.#idle.splice(0)) this.#retire(one);
  }

  #retire(cell: WarmCell): void {
    this.#cells.delete(cell);
    cell.close();
  }

  #start(takeSpare = this.#options.takeSpare): WarmCell {
    this.#options.assertOpen();
    const cell = startWarm(this.#place, takeSpare);
    this.#cells.add(cell);
    return cell;
  }
}

function bytesOf(cells: readonly WarmCell[]): number {
  return cells.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** False if the caller cancelled while the call waited. */
function entered(turn: Promise<void>): Promise<boolean> {
  return turn.then(
    () => true,
    () => false,
  );
}
