/**
 * The same job through the runtime, with each of the three ways to get a cell. Receipts are written as
 * by default; the skill is loaded ahead, as in a program that calls it more than once.
 *
 * @module
 */
import { join } from 'node:path';
import { createRuntime, type Runtime, type RuntimeOptions, type Skill } from '../../src/index.ts';
import type { Job } from './jobs.ts';
import type { Timing, Variant } from './rounds.ts';

interface Way {
  name: string;
  start: 'cold' | 'pool' | 'zygote';
  pool: NonNullable<RuntimeOptions['pool']>;
}

export const COLD = 'cold jail';
export const POOL = 'pool';
export const ZYGOTE = 'zygote';

/** A round with slow peers may take longer than cells are kept by default. */
export const KEPT_MS: number = 30 * 60_000;

const WAYS: readonly Way[] = [
  { name: COLD, start: 'cold', pool: { size: 0 } },
  { name: POOL, start: 'pool', pool: { size: 2 } },
  { name: ZYGOTE, start: 'zygote', pool: { ready: 'zygote' } },
];

export class OurVariants implements AsyncDisposable {
  readonly #runtimes: { way: Way; runtime: Runtime }[];

  constructor(folder: string) {
    this.#runtimes = WAYS.map((way) => ({
      way,
      runtime: createRuntime({
        home: join(folder, way.start),
        pool: { idleMs: KEPT_MS, ...way.pool },
        caller: 'bench',
      }),
    }));
  }

  async of(job: Job): Promise<Variant[]> {
    return Promise.all(
      this.#runtimes.map(async ({ way, runtime }) => {
        const skill = await runtime.load(job.dir);
        const rest = (): Promise<void> => runtime.warm(skill);
        await rest();
        return { name: way.name, run: () => runOnce({ way, runtime, skill }, job), rest };
      }),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#runtimes.map(({ runtime }) => runtime.close()));
  }
}

interface Prepared {
  way: Way;
  runtime: Runtime;
  skill: Skill;
}

async function runOnce({ way, runtime, skill }: Prepared, job: Job): Promise<Timing> {
  const began = performance.now();
  const outcome = await runtime.execute(skill, job.params);
  const ms = performance.now() - began;
  const start = outcome.execution?.start;
  if (start !== way.start) throw new Error(`Expected to measure "${way.start}", but the call got "${start}"`);
  return { ms, result: outcome.ok ? outcome.result : undefined };
}
