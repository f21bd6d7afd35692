/**
 * Worker threads for bytes and work that a stranger decides on: large results, schemas with patterns, large manifests.
 * A task has a deadline, and a thread that misses it is ended and replaced. Whoever has many tasks waits behind
 * whoever has one: tenants are served in turn.
 *
 * @module
 */
import { availableParallelism } from 'node:os';
import { EXIT_CODES, SkillError, type ErrorCode } from '../errors.ts';
import { ownedByNobody } from '../fault-owner.ts';
import { Lines, type Parties } from './lines.ts';
import { TaskEndedError, type Task, type TaskFailure, type TaskOptions } from './task.ts';
import { WorkerThread } from './thread.ts';

/** Half of the cores, so that cells and the event loop have the others; two at least, so that nobody has them all. */
const MOST_THREADS = 4;
/** Work that waits holds its bytes in memory. More than this is refused. */
export const MAX_QUEUED_TASKS = 512;
export const MAX_QUEUED_BYTES: number = 256 * 1024 * 1024;

interface Waiting {
  task: Task<never, unknown>;
  input: unknown;
  options: TaskOptions;
  bytes: number;
  settle: PromiseWithResolvers<unknown>;
  /** Stops to listen for the caller's giving up. */
  stayed: () => void;
}

/** What was done so far; tests hold claims about the main thread to it. */
export interface OffloadCounts {
  /** Tasks that were done, by name. */
  done: Record<string, number>;
  /** Threads that were ended because of a task. */
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
  /** How many threads work for an owner, and for a tenant. */
  readonly #busyFor = new Map<string, number>();
  readonly #counts: OffloadCounts = { done: {}, ended: 0, started: 0 };
  #queued = 0;
  #queuedBytes = 0;
  #closed = false;

  constructor({ threads }: OffloadOptions = {}) {
    this.#most = threads ?? Math.min(MOST_THREADS, Math.max(2, Math.floor(availableParallelism() / 2)));
  }

  get counts(): OffloadCounts {
    return { ...this.#counts, done: { ...this.#counts.done } };
  }

  /** Does a task in a thread. Rejects with a TaskEndedError, or with what the task threw. */
  run<In, Out>(task: Task<In, Out>, input: In, options: TaskOptions): Promise<Out> {
    const bytes = (options.transfer ?? []).reduce((sum, part) => sum + part.byteLength, 0);
    if (this.#closed) return Promise.reject(new TaskEndedError('closed', 'The runtime is closed'));
    if (options.signal?.aborted) return Promise.reject(new TaskEndedError('aborted', 'Given up'));
    if (this.#queued >= MAX_QUEUED_TASKS || this.#queuedBytes + bytes > MAX_QUEUED_BYTES)
      return Promise.reject(tooMuchWaits());
    const settle = Promise.withResolvers<unknown>();
    this.#enqueue({ task, input, options, bytes, settle, stayed: () => undefined });
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
      this.#left(waiting);
      waiting.settle.reject(new TaskEndedError('aborted', 'Given up'));
    };
    signal?.addEventListener('abort', giveUp, { once: true });
    waiting.stayed = () => signal?.removeEventListener('abort', giveUp);
  }

  #left({ bytes, stayed }: Waiting): void {
    this.#queued--;
    this.#queuedBytes -= bytes;
    stayed();
  }

  /** The next of the tenant who has waited longest for a turn. One thread is left for others. */
  #next(): Waiting | undefined {
    const most = Math.max(1, this.#most - 1);
    const next = this.#lines.take((options) =>
      partiesOf(options).every((party) => (this.#busyFor.get(party) ?? 0) < most),
    );
    if (next) this.#left(next);
    return next;
  }

  #work(): void {
    while (this.#queued > 0) {
      const free = this.#threads.find((thread) => thread.isFree);
      if (!free && this.#threads.length >= this.#most) return;
      const next = this.#next();
      if (!next) return;
      this.#give(free ?? this.#startThread(), next);
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
      // The owner of the task hears of a failure by `settle`.
      .catch(() => undefined);
  }

  #countBusy(party: string, change: 1 | -1): void {
    const count = (this.#busyFor.get(party) ?? 0) + change;
    if (count > 0) this.#busyFor.set(party, count);
    else this.#busyFor.delete(party);
  }

  #startThread(): WorkerThread {
    const onEnd = (): void => {
      this.#threads.splice(this.#threads.indexOf(thread), 1);
      if (!this.#closed) this.#counts.ended++;
    };
    const thread: WorkerThread = ownedByNobody(() => new WorkerThread(onEnd));
    this.#counts.started++;
    this.#threads.push(thread);
    return thread;
  }
}

/** Who must not have all threads: the skill, whoever calls it, and who calls, whatever the skill. */
function partiesOf({ owner, tenant }: Parties): string[] {
  return tenant === undefined ? [`owner ${owner}`] : [`owner ${owner}`, `tenant ${tenant}`];
}

function asError({ message, skill }: TaskFailure): Error {
  if (!skill || !Object.hasOwn(EXIT_CODES, skill.code)) return new Error(message);
  return new SkillError(skill.code as ErrorCode, message, { fix: skill.fix, detail: skill.detail });
}

function tooMuchWaits(): SkillError {
  return new SkillError('resource_exceeded', 'Too many large values are waiting to be checked', {
    fix: 'Call again later.',
    detail: { limit: 'busy' },
  });
}
