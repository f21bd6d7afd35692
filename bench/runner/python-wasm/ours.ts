/**
 * Python in Wasm through `runtime.execute`, behind each of the two walls, and with a process for every call. Receipts
 * are written as by default; the skill is loaded ahead, as in a program that calls it more than once.
 *
 * @module
 */
import { join } from 'node:path';
import type { Runtime, RuntimeOptions, Skill } from '../../../src/index.ts';
import type { Job } from '../jobs.ts';
import { KEPT_MS } from '../ours.ts';
import type { Timing, Variant } from '../rounds.ts';
import { runtimeBehind, type WallOfCell } from '../wasm/ours.ts';

interface Way {
  name: string;
  wall: WallOfCell;
  start: 'warm' | 'cold';
  options: RuntimeOptions;
}

export const IN_JAIL = 'Python in Wasm, jail';
export const IN_PROCESS = 'Python in Wasm, process';
export const PROCESS_PER_CALL = 'Python in Wasm, jail per call';

const WAYS: readonly Way[] = [
  { name: IN_JAIL, wall: 'jail', start: 'warm', options: {} },
  { name: IN_PROCESS, wall: 'process', start: 'warm', options: {} },
  { name: PROCESS_PER_CALL, wall: 'jail', start: 'cold', options: { pool: { size: 0 } } },
];

/** All runtimes of a bench share one home, so that the engine is prepared once, and have separate receipts. */
export function pythonRuntime(folder: string, way: Omit<Way, 'start'>): Runtime {
  const file = join(folder, `${way.name.replaceAll(/\W+/g, '-')}.sqlite`);
  const home = join(folder, 'python-wasm');
  const pool = { idleMs: KEPT_MS, ...way.options.pool };
  return runtimeBehind(way.wall, folder, { ...way.options, home, pool, audit: { file } });
}

export class PythonWasmVariants implements AsyncDisposable {
  readonly #runtimes: { way: Way; runtime: Runtime }[];

  constructor(folder: string) {
    this.#runtimes = WAYS.map((way) => ({ way, runtime: pythonRuntime(folder, way) }));
  }

  async of(job: Job): Promise<Variant[]> {
    const variants: Variant[] = [];
    for (const { way, runtime } of this.#runtimes) {
      const skill = await runtime.load(job.dir);
      // A cell reports its first call as cold, however long it has been waiting.
      await runtime.execute(skill, job.params, { execution: 'wasm' });
      variants.push({ name: way.name, run: () => runOnce({ way, runtime, skill }, job) });
    }
    return variants;
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
  const outcome = await runtime.execute(skill, job.params, { execution: 'wasm' });
  const ms = performance.now() - began;
  const { engine, wall, start } = outcome.execution ?? {};
  // A second process that alternates with the first was started ahead: for the caller that is just as warm.
  const kind = start === 'pool' ? 'warm' : start;
  const [meant, taken] = [`python-wasm ${way.wall} ${way.start}`, `${engine} ${wall} ${kind}`];
  if (meant !== taken) throw new Error(`Expected to measure "${meant}", but the call got "${taken}"`);
  return { ms, result: outcome.result };
}
