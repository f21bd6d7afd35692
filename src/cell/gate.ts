/**
 * Back-pressure: so many at once, so many waiting, and everybody else is told at once.
 *
 * @module
 */
import { SkillError } from '../errors.ts';
import { cancelled } from './judge.ts';

export interface GateOptions {
  maxConcurrent: number;
  maxQueue: number;
}

export class Gate {
  readonly #options: GateOptions;
  readonly #waiting: (() => void)[] = [];
  #inside = 0;

  constructor(options: GateOptions) {
    this.#options = options;
  }

  /** Runs `work` when there is room; refuses when the queue is full. Who gives up leaves the queue. */
  async through<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    await this.#enter(signal);
    try {
      return await work();
    } finally {
      this.#leave();
    }
  }

  #enter(signal: AbortSignal | undefined): Promise<void> | undefined {
    const { maxConcurrent, maxQueue } = this.#options;
    if (this.#inside < maxConcurrent) {
      this.#inside++;
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

  #leave(): void {
    // The place is handed over, so nobody can slip in between.
    const next = this.#waiting.shift();
    if (next) next();
    else this.#inside--;
  }
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
