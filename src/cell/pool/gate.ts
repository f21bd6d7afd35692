/**
 * Bounded concurrency with a bounded queue; overflow is rejected immediately. Calls that are made by other calls have
 * gates of their own, one for each depth: a call then waits only for calls below it, so that no circle of waiting closes.
 *
 * @module
 */
import { SkillError } from '../../errors.ts';
import { cancelled } from '../verdict/judge.ts';

/** How many calls may be above a call. Concurrency, and so memory, multiplies by the number of levels. */
export const MAX_DEPTH = 3;

export interface GateOptions {
  maxConcurrent: number;
  maxQueue: number;
}

export class Gate {
  readonly #options: GateOptions;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(options: GateOptions) {
    this.#options = options;
  }

  /** Runs `work` when there is room; throws if the queue is full. Aborting the signal leaves the queue. */
  async run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    await this.enter(signal);
    try {
      return await work();
    } finally {
      this.leave();
    }
  }

  /** Number of calls in the queue. */
  get queued(): number {
    return this.#waiting.length;
  }

  /** Takes a slot; returns undefined if one was free. Whoever has entered must `leave`. */
  enter(signal: AbortSignal | undefined): Promise<void> | undefined {
    const { maxConcurrent, maxQueue } = this.#options;
    if (this.#running < maxConcurrent) {
      this.#running++;
      return undefined;
    }
    if (this.#waiting.length >= maxQueue) throw busy(this.#options);
    return this.#wait(signal);
  }

  #wait(signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const giveUp = (): void => {
      this.#waiting.splice(this.#waiting.indexOf(enter), 1);
      reject(cancelled());
    };
    const enter = (): void => {
      signal?.removeEventListener('abort', giveUp);
      resolve();
    };
    this.#waiting.push(enter);
    signal?.addEventListener('abort', giveUp, { once: true });
    if (signal?.aborted) giveUp();
    return promise;
  }

  leave(): void {
    // Hands the slot to the next in the queue, so that no newcomer can take it.
    const next = this.#waiting.shift();
    if (next) next();
    else this.#running--;
  }
}

/** A gate for each depth, with the same limits. */
export class DepthGates {
  readonly #options: GateOptions;
  readonly #gates: Gate[] = [];

  constructor(options: GateOptions) {
    this.#options = options;
  }

  at(depth = 0): Gate {
    if (depth > MAX_DEPTH) throw tooDeep(depth);
    return (this.#gates[depth] ??= new Gate(this.#options));
  }

  /** Number of calls in all queues. */
  get queued(): number {
    return this.#gates.reduce((sum, gate) => sum + gate.queued, 0);
  }
}

function tooDeep(depth: number): SkillError {
  return new SkillError(
    'resource_exceeded',
    `The call has ${depth} calls above it; at most ${MAX_DEPTH} are allowed`,
    {
      fix: 'Let calls return data, and make the next call from further up.',
      detail: { limit: 'depth', depth },
    },
  );
}

function busy({ maxConcurrent, maxQueue }: GateOptions): SkillError {
  return new SkillError(
    'resource_exceeded',
    `Too many calls: ${maxConcurrent} are running and ${maxQueue} are waiting`,
    {
      fix: 'Try again later, or raise pool.maxConcurrent or pool.maxQueue.',
      detail: { limit: 'busy', maxConcurrent, maxQueue },
    },
  );
}
