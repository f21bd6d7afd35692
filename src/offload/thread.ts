/**
 * One worker thread, which runs one task at a time and is terminated if a task takes too much time or memory.
 *
 * @module
 */
import { SkillError, unattended } from '../errors.ts';
import { Worker } from 'node:worker_threads';
import { Deadline } from './deadline.ts';
import { besideThis, TaskEndedError, type TaskAnswer, type TaskOptions, type TaskRequest } from './task.ts';

/** Enough for the largest value that a policy allows by default; a larger one ends the thread, not the host. */
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
    this.#worker.on('error', (error: unknown) => this.#fail(reasonOf(error)));
    this.#worker.on('exit', () => this.#fail(workerDied()));
    // An unreadable answer means that the task has no answer.
    this.#worker.on('messageerror', (error) => {
      this.#fail(workerDied(error));
      unattended(this.#worker.terminate());
    });
    // A pending task reports the failure itself; an idle thread that fails is simply replaced.
    this.#ready.promise.catch(() => undefined);
    // An idle thread must not keep the program alive.
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
    let deadline: Deadline | undefined;
    try {
      await Promise.race([this.#ready.promise, answer.promise]);
      deadline = new Deadline(this.#worker, deadlineMs, () => unattended(this.end('deadline', deadlineMs)));
      if (!this.#hasEnded) this.#send(request, transfer);
      return await answer.promise;
    } finally {
      deadline?.clear();
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

  /** Throws if the input is not plain data, and frees the thread. */
  #send(request: TaskRequest, transfer: readonly Uint8Array[]): void {
    try {
      this.#worker.postMessage(
        request,
        transfer.map(({ buffer }) => buffer as ArrayBuffer),
      );
    } catch (error) {
      this.#answer = undefined;
      this.#worker.unref();
      throw error;
    }
  }

  #settle(answer: TaskAnswer): void {
    const waiting = this.#answer;
    this.#answer = undefined;
    this.#worker.unref();
    waiting?.resolve(answer);
  }

  #fail(reason: Error): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#onEnd();
    this.#ready.reject(reason);
    this.#answer?.reject(reason);
    this.#answer = undefined;
  }
}

function reasonOf(thrown: unknown): Error {
  const isFull = (thrown as { code?: unknown } | undefined)?.code === 'ERR_WORKER_OUT_OF_MEMORY';
  return isFull ? new TaskEndedError('memory', 'It takes too much memory') : workerDied(thrown);
}

/** For a thread that ended on its own, whether or not its task was the cause. */
export function workerDied(cause?: unknown): SkillError {
  return new SkillError('internal', 'A worker thread ended before its task did', {
    fix: 'Try again; a new thread has been started. If it happens again, check the memory and the open files of this host.',
    cause,
  });
}
