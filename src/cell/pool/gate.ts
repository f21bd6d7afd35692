/**
 * Bounded concurrency with a bounded queue; overflow is rejected immediately. Calls that are made by other calls have
 * gates of their own, one for each depth: a call then waits only for calls below it, so that no circle of waiting closes.
 * There, each tree of calls is an owner: whatever others do, one of its calls runs at each depth.
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

interface Waiting {
  enter: () => void;
  owner: string | undefined;
}

export class Gate {
  readonly #options: GateOptions;
  readonly #waiting: Waiting[] = [];
  /** Slots and places in the queue of each owner. */
  readonly #held = new Map<string | undefined, { running: number; waiting: number }>();
  #running = 0;

  constructor(options: GateOptions) {
    this.#options = options;
  }

  /** Runs `work` when there is room; throws if the queue is full. Aborting the signal leaves the queue. */
  async run<T>(work: () => Promise<T>, signal?: AbortSignal, owner?: string): Promise<T> {
    await this.enter(signal, owner);
    try {
      return await work();
    } finally {
      this.leave(owner);
    }
  }

  /** Number of calls in the queue. */
  get queued(): number {
    return this.#waiting.length;
  }

  /**
   * Takes a slot; returns undefined if one was free. Whoever has entered must `leave`. An owner always gets one slot, even
   * beyond the limit, and has a queue of its own, so that no other can keep it from going on.
   */
  enter(signal: AbortSignal | undefined, owner?: string): Promise<void> | undefined {
    const { maxConcurrent, maxQueue } = this.#options;
    const held = this.#heldBy(owner);
    if (this.#running < maxConcurrent || isEntitled(owner, held)) {
      this.#running++;
      held.running++;
      return undefined;
    }
    if (held.waiting >= maxQueue) throw busy(this.#options);
    return this.#wait(signal, owner);
  }

  #wait(signal: AbortSignal | undefined, owner: string | undefined): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const giveUp = (): void => {
      this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
      this.#heldBy(owner).waiting--;
      this.#forget(owner);
      reject(cancelled());
    };
    const enter = (): void => {
      signal?.removeEventListener('abort', giveUp);
      const held = this.#heldBy(owner);
      held.waiting--;
      held.running++;
      this.#running++;
      resolve();
    };
    const waiting: Waiting = { enter, owner };
    this.#waiting.push(waiting);
    this.#heldBy(owner).waiting++;
    signal?.addEventListener('abort', giveUp, { once: true });
    if (signal?.aborted) giveUp();
    return promise;
  }

  leave(owner?: string): void {
    this.#running--;
    this.#heldBy(owner).running--;
    // Hands the slot to the next in the queue, so that no newcomer can take it.
    const next = this.#running < this.#options.maxConcurrent ? 0 : this.#entitledNow(owner);
    if (next >= 0) this.#waiting.splice(next, 1)[0]?.enter();
    this.#forget(owner);
  }

  /** Of the calls that wait, one of the owner that has just given back the only slot that it had. */
  #entitledNow(owner: string | undefined): number {
    if (!isEntitled(owner, this.#heldBy(owner))) return -1;
    return this.#waiting.findIndex((waiting) => waiting.owner === owner);
  }

  #heldBy(owner: string | undefined): { running: number; waiting: number } {
    const held = this.#held.get(owner) ?? { running: 0, waiting: 0 };
    this.#held.set(owner, held);
    return held;
  }

  #forget(owner: string | undefined): void {
    const { running, waiting } = this.#heldBy(owner);
    if (running === 0 && waiting === 0) this.#held.delete(owner);
  }
}

function isEntitled(owner: string | undefined, { running }: { running: number }): boolean {
  return owner !== undefined && running === 0;
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
