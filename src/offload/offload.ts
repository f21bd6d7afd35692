/**
 * Worker threads for untrusted input of unbounded cost: large results, schemas with patterns, large manifests.
 * Each task has a deadline, and a thread that misses it is terminated and replaced. Tenants are served in turn, so that
 * one with many tasks does not delay one with a single task.
 *
 * @module
 */
import { availableParallelism } from 'node:os';
import { EXIT_CODES, type ErrorCode } from '../vocabulary/error-codes.ts';
import { SkillError } from '../errors.ts';
import { withoutFaultOwner } from '../fault-owner.ts';
import { Lines, type Parties } from './lines.ts';
import { TaskEndedError, type Task, type TaskFailure, type TaskOptions } from './task.ts';
import { WorkerThread, workerDied } from './thread.ts';

/** Half of the cores, which leaves the rest to cells and the event loop; at least two, so that no tenant occupies all. */
const MAX_THREADS = 4;
/** Queued work holds its bytes in memory, so more than this is refused. */
export const MAX_QUEUED_TASKS = 512;
export const MAX_QUEUED_BYTES: number = 256 * 1024 * 1024;

interface Waiting {
  task: Task<never, unknown>;
  input: unknown;
  options: TaskOptions;
  bytes: number;
  settle: PromiseWithResolvers<unknown>;
  /** Stops listening for the caller's abort signal. */
  unlisten: () => void;
}

/** Counters, which tests use to check what stays off the main thread. */
export interface OffloadCounts {
  /** Finished tasks by name. */
  done: Record<string, number>;
  /** Threads that ended because of a task. */
  ended: number;
  started: number;
}

export interface OffloadOptions {
  threads?: number;
}

export class Offload {
  readonly #most: number;
  readonly #threads: WorkerThread[] = [];
  readonly #lines = new Lines<Waiting>();
  /** Number of threads that work for each owner and each tenant. */
  readonly #busyFor = new Map<string, number>();
  readonly #counts: OffloadCounts = { done: {}, ended: 0, started: 0 };
  #queued = 0;
  #queuedBytes = 0;
  #closed = false;

  constructor({ threads }: OffloadOptions = {}) {
    this.#most = threads ?? Math.min(MAX_THREADS, Math.max(2, Math.floor(availableParallelism() / 2)));
  }

  get counts(): OffloadCounts {
    return { ...this.#counts, done: { ...this.#counts.done } };
  }

  /** Runs a task on a thread. Rejects with a TaskEndedError, or with the error that the task threw. */
  run<In, Out>(task: Task<In, Out>, input: In, options: TaskOptions): Promise<Out> {
    const bytes = (options.transfer ?? []).reduce((sum, part) => sum + part.byteLength, 0);
    if (this.#closed) return Promise.reject(new TaskEndedError('closed', 'The runtime is closed'));
    if (options.signal?.aborted) return Promise.reject(new TaskEndedError('aborted', 'Given up'));
    if (this.#queued >= MAX_QUEUED_TASKS || this.#queuedBytes + bytes > MAX_QUEUED_BYTES)
      return Promise.reject(queueFull());
    const settle = Promise.withResolvers<unknown>();
    this.#enqueue({ task, input, options, bytes, settle, unlisten: () => undefined });
    this.#work();
    return settle.promise as Promise<Out>;
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const { settle } of this.#lines.clear())
      settle.reject(new TaskEndedError('closed', 'The runtime is closed'));
    await Promise.all([...this.#threads].map((thread) => thread.end('closed')));
  }

  #enqueue(waiting: Waiting): void {
    const { signal } = waiting.options;
    this.#lines.add(waiting.options, waiting);
    this.#queued++;
    this.#queuedBytes += waiting.bytes;
    const giveUp = (): void => {
      if (!this.#lines.remove(waiting.options, waiting)) return;
      this.#dequeue(waiting);
      waiting.settle.reject(new TaskEndedError('aborted', 'Given up'));
    };
    signal?.addEventListener('abort', giveUp, { once: true });
    waiting.unlisten = () => signal?.removeEventListener('abort', giveUp);
  }

  #dequeue({ bytes, unlisten }: Waiting): void {
    this.#queued--;
    this.#queuedBytes -= bytes;
    unlisten();
  }

  /** The next task of the tenant that has waited longest. No party gets the last thread. */
  #next(): Waiting | undefined {
    const most = Math.max(1, this.#most - 1);
    const next = this.#lines.take((options) =>
      partiesOf(options).every((party) => (this.#busyFor.get(party) ?? 0) < most),
    );
    if (next) this.#dequeue(next);
    return next;
  }

  #work(): void {
    while (this.#queued > 0) {
      const free = this.#threads.find((thread) => thread.isFree);
      if (!free && this.#threads.length >= this.#most) return;
      const next = this.#next();
      if (!next) return;
      const thread = free ?? this.#tryStartThread(next);
      if (thread) this.#give(thread, next);
    }
  }

  #give(thread: WorkerThread, { task, input, options, settle }: Waiting): void {
    for (const party of partiesOf(options)) this.#countBusy(party, 1);
    thread
      .perform({ module: task.module, name: task.name, input }, options)
      .then((answer) => {
        this.#counts.done[task.name] = (this.#counts.done[task.name] ?? 0) + 1;
        if (answer.ok) settle.resolve(answer.value);
        else settle.reject(asError(answer.error));
      }, settle.reject)
      .finally(() => {
        for (const party of partiesOf(options)) this.#countBusy(party, -1);
        this.#work();
      })
      // `settle` reports the failure to the caller of the task.
      .catch(() => undefined);
  }

  #countBusy(party: string, change: 1 | -1): void {
    const count = (this.#busyFor.get(party) ?? 0) + change;
    if (count > 0) this.#busyFor.set(party, count);
    else this.#busyFor.delete(party);
  }

  /** Rejects the task if the system cannot start a thread. */
  #tryStartThread({ settle }: Waiting): WorkerThread | undefined {
    try {
      return this.#startThread();
    } catch (error) {
      settle.reject(workerDied(error));
      return undefined;
    }
  }

  #startThread(): WorkerThread {
    const onEnd = (): void => {
      this.#threads.splice(this.#threads.indexOf(thread), 1);
      if (!this.#closed) this.#counts.ended++;
    };
    const thread: WorkerThread = withoutFaultOwner(() => new WorkerThread(onEnd));
    this.#counts.started++;
    this.#threads.push(thread);
    return thread;
  }
}

/** The parties that must not occupy all threads: the skill for all its callers, and the tenant for all its skills. */
function partiesOf({ owner, tenant }: Parties): string[] {
  return tenant === undefined ? [`owner ${owner}`] : [`owner ${owner}`, `tenant ${tenant}`];
}

function asError({ message, skill }: TaskFailure): Error {
  if (!skill || !Object.hasOwn(EXIT_CODES, skill.code)) return new Error(message);
  return new SkillError(skill.code as ErrorCode, message, { fix: skill.fix, detail: skill.detail });
}

function queueFull(): SkillError {
  return new SkillError('resource_exceeded', 'Too many large values are waiting to be checked', {
    fix: 'Try again later.',
    detail: { limit: 'busy' },
  });
}
