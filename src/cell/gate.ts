/**
 * Back-pressure: so many at once, so many waiting, and everybody else is told at once.
 *
 * @module
 */
import { SkillError } from '../errors.ts';

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

  /** Runs `work` when there is room; refuses when the queue is full. */
  async through<T>(work: () => Promise<T>): Promise<T> {
    await this.#enter();
    try {
      return await work();
    } finally {
      this.#leave();
    }
  }

  #enter(): Promise<void> | undefined {
    const { maxConcurrent, maxQueue } = this.#options;
    if (this.#inside < maxConcurrent) {
      this.#inside++;
      return undefined;
    }
    if (this.#waiting.length >= maxQueue) throw busy(this.#options);
    return new Promise((resolve) => this.#waiting.push(resolve));
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
