/**
 * One worker thread, which does one task at a time and is ended when a task takes too long or too much memory.
 *
 * @module
 */
import { unattended } from '../errors.ts';
import { Worker } from 'node:worker_threads';
import { besideThis, TaskEndedError, type TaskAnswer, type TaskOptions, type TaskRequest } from './task.ts';

/** Enough for the largest value that a policy lets through by default; a larger one ends the thread, not the host. */
const HEAP_MB = 1024;

export class WorkerThread {
  readonly #worker: Worker;
  readonly #onEnd: () => void;
  readonly #ready = Promise.withResolvers<void>();
  #answer: PromiseWithResolvers<TaskAnswer> | undefined;
  #hasEnded = false;

  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
    this.#worker = new Worker(new URL(besideThis(import.meta.url, './worker')), {
      env: {},
      execArgv: [],
      stdin: false,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    });
    this.#worker.on('message', (message: 'ready' | TaskAnswer) => {
      if (message === 'ready') this.#ready.resolve();
      else this.#settle(message);
    });
    this.#worker.on('error', (error: Error & { code?: string }) => this.#fail(error));
    this.#worker.on('exit', () => this.#fail(new Error('A worker thread ended')));
    // Who waits for a task hears of it; a thread that fails while nobody waits is only replaced.
    this.#ready.promise.catch(() => undefined);
    // An idle thread keeps no program alive.
    this.#worker.unref();
  }

  get isFree(): boolean {
    return !this.#hasEnded && this.#answer === undefined;
  }

  async perform(
    request: TaskRequest,
    { deadlineMs, transfer = [], signal }: TaskOptions,
  ): Promise<TaskAnswer> {
    const answer = Promise.withResolvers<TaskAnswer>();
    this.#answer = answer;
    this.#worker.ref();
    const abort = (): void => unattended(this.end('aborted'));
    signal?.addEventListener('abort', abort, { once: true });
    let deadline: NodeJS.Timeout | undefined;
    try {
      await Promise.race([this.#ready.promise, answer.promise]);
      // An answer that has come meanwhile is read first, however late this timer is.
      deadline = setTimeout(
        () => setImmediate(() => unattended(this.end('deadline', deadlineMs))),
        deadlineMs,
      );
      if (!this.#hasEnded)
        this.#worker.postMessage(
          request,
          transfer.map(({ buffer }) => buffer as ArrayBuffer),
        );
      return await answer.promise;
    } finally {
      clearTimeout(deadline);
      signal?.removeEventListener('abort', abort);
    }
  }

  async end(reason: TaskEndedError['reason'], deadlineMs = 0): Promise<void> {
    if (this.#hasEnded || (reason === 'deadline' && !this.#answer)) return;
    this.#fail(
      new TaskEndedError(
        reason,
        reason === 'deadline' ? `Stopped after ${deadlineMs} ms` : `Ended: ${reason}`,
      ),
    );
    await this.#worker.terminate();
  }

  #settle(answer: TaskAnswer): void {
    const waiting = this.#answer;
    this.#answer = undefined;
    this.#worker.unref();
    waiting?.resolve(answer);
  }

  #fail(error: Error & { code?: string }): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#onEnd();
    const isFull = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
    const told = isFull ? new TaskEndedError('memory', 'It takes too much memory') : error;
    this.#ready.reject(told);
    this.#answer?.reject(told);
    this.#answer = undefined;
  }
}
