/**
 * The job through `runtime.execute`, behind each of the two walls. Receipts are written as by default; the skill is
 * loaded and its cell started ahead, as in a program that calls it more than once.
 *
 * @module
 */
import { join } from 'node:path';
import { createRuntime, type Runtime, type RuntimeOptions, type Skill } from '../../../src/index.ts';
import type { Timing, Variant } from '../rounds.ts';
import { PARAMS, type Language } from './languages.ts';

export type WallOfCell = 'jail' | 'process';

/** Names of the rows. */
export function rowName(language: string, wall: WallOfCell): string {
  return `${language}, ${wall}`;
}

/** Without bubblewrap there is no jail, and only the process is the wall. */
const WITHOUT_JAIL: RuntimeOptions = { jail: { bwrap: '/nonexistent/bwrap' } };
const WALLS: readonly WallOfCell[] = ['jail', 'process'];

export class OurWasmVariants implements AsyncDisposable {
  readonly #runtimes: { wall: WallOfCell; runtime: Runtime }[];

  constructor(folder: string) {
    this.#runtimes = WALLS.map((wall) => ({ wall, runtime: runtimeBehind(wall, folder) }));
  }

  /** Every language behind the jail, then every language behind the process wall. */
  async of(languages: readonly Language[]): Promise<Variant[]> {
    const variants: Variant[] = [];
    for (const { wall, runtime } of this.#runtimes) {
      for (const language of languages) {
        const skill = await runtime.load(language.dir);
        await runtime.warm(skill);
        const run = (): Promise<Timing> => runOnce({ wall, runtime, skill });
        // A cell reports its first call as cold, however long it has been waiting.
        await runtime.execute(skill, PARAMS);
        variants.push({ name: rowName(language.name, wall), run });
      }
    }
    return variants;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#runtimes.map(({ runtime }) => runtime.close()));
  }
}

export function runtimeBehind(wall: WallOfCell, folder: string, options: RuntimeOptions = {}): Runtime {
  return createRuntime({
    home: join(folder, `wasm-${wall}`),
    caller: 'bench',
    // All languages stay warm at the same time.
    pool: { maxStandby: 64 },
    ...(wall === 'process' ? WITHOUT_JAIL : {}),
    ...options,
  });
}

interface Prepared {
  wall: WallOfCell;
  runtime: Runtime;
  skill: Skill;
}

async function runOnce({ wall, runtime, skill }: Prepared): Promise<Timing> {
  const began = performance.now();
  const outcome = await runtime.execute(skill, PARAMS);
  const ms = performance.now() - began;
  assertTaken(`${wall} warm`, `${outcome.execution?.wall} ${outcome.execution?.start}`);
  return { ms, result: outcome.result };
}

function assertTaken(meant: string, taken: string): void {
  if (taken !== meant) throw new Error(`Expected to measure "${meant}", but the call got "${taken}"`);
}
