/**
 * The deadline of a task. It counts CPU time, because on a busy machine harmless work would miss a wall-clock deadline. A
 * thread that reports nothing spins in native code or gets no CPU at all; it used at most as much as the whole process.
 *
 * @module
 */
import type { Worker } from 'node:worker_threads';

/** Upper bound in wall-clock time, as a multiple of the deadline, for a thread that gets little CPU time. */
const MAX_DEADLINES = 30;
/** Time for a thread to report its CPU time. One that spins in native code never does. */
const REPORT_MS = 250;

export class Deadline {
  readonly #worker: Worker;
  readonly #ms: number;
  readonly #onMissed: () => void;
  readonly #startedAt = performance.now();
  readonly #processAtStart = processCpuMs();
  readonly #cpuAtStart: Promise<number | undefined>;
  #timer: NodeJS.Timeout | undefined;
  #isCleared = false;

  constructor(worker: Worker, ms: number, onMissed: () => void) {
    this.#worker = worker;
    this.#ms = ms;
    this.#onMissed = onMissed;
    this.#cpuAtStart = cpuMsOf(worker);
    this.#arm(ms);
  }

  clear(): void {
    this.#isCleared = true;
    clearTimeout(this.#timer);
  }

  #arm(ms: number): void {
    // However late this timer fires, an answer that has arrived is read first.
    this.#timer = setTimeout(() => setImmediate(() => this.#expire()), ms);
  }

  #expire(): void {
    if (this.#isCleared) return;
    this.#remaining().then(
      (ms) => {
        if (this.#isCleared) return;
        if (ms > 0) this.#arm(ms);
        else this.#onMissed();
      },
      () => this.#onMissed(),
    );
  }

  /** CPU time that the task may still use, in milliseconds. */
  async #remaining(): Promise<number> {
    if (performance.now() - this.#startedAt >= MAX_DEADLINES * this.#ms) return 0;
    const [before, now] = await Promise.all([this.#cpuAtStart, cpuMsOf(this.#worker)].map(withinReportTime));
    const used =
      before === undefined || now === undefined ? processCpuMs() - this.#processAtStart : now - before;
    return Math.ceil(this.#ms - used);
  }
}

function processCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

async function cpuMsOf(worker: Worker): Promise<number | undefined> {
  try {
    const { user, system } = await worker.cpuUsage();
    return (user + system) / 1000;
  } catch {
    // Not every Node version supports this, and a thread that has ended cannot report.
    return undefined;
  }
}

function withinReportTime(cpu: Promise<number | undefined>): Promise<number | undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), REPORT_MS);
  return Promise.race([cpu, promise]).finally(() => clearTimeout(timer));
}
