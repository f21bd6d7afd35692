/**
 * The time before the first result: preparing the engine, once per machine, and then the first call of every program.
 *
 * @module
 */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ECHO_WORDS } from '../jobs.ts';
import { quantile } from '../statistics.ts';
import { pythonRuntime } from './ours.ts';

export interface StartCost {
  /** From nothing to the first result: engine and skill prepared, cell started. Once per machine. */
  prepareMs: number;
  /** Medians over new runtimes on the prepared machine: reading and checking the skill, its first call, its second call. */
  loadMs: number;
  firstCallMs: number;
  secondCallMs: number;
  /** Size of the prepared engine on disk, shared by all skills. */
  engineBytes: number;
}

interface FirstCalls {
  loadMs: number;
  firstMs: number;
  secondMs: number;
}

const MOST_RUNTIMES = 7;

export async function measureStart(folder: string, rounds: number): Promise<StartCost> {
  const { loadMs, firstMs } = await firstCalls(folder);
  const later: FirstCalls[] = [];
  for (let at = 0; at < Math.min(rounds, MOST_RUNTIMES); at++) later.push(await firstCalls(folder));
  const median = (part: keyof FirstCalls): number =>
    quantile(
      later.map((calls) => calls[part]),
      0.5,
    );
  return {
    prepareMs: loadMs + firstMs,
    loadMs: median('loadMs'),
    firstCallMs: median('firstMs'),
    secondCallMs: median('secondMs'),
    engineBytes: bytesIn(join(folder, 'python-wasm', 'python-wasm')),
  };
}

async function firstCalls(folder: string): Promise<FirstCalls> {
  await using runtime = pythonRuntime(folder, { name: 'start', wall: 'jail', options: {} });
  const began = performance.now();
  const skill = await runtime.load(ECHO_WORDS.dir);
  const loaded = performance.now();
  await runtime.execute(skill, ECHO_WORDS.params, { execution: 'wasm' });
  const first = performance.now();
  await runtime.execute(skill, ECHO_WORDS.params, { execution: 'wasm' });
  return { loadMs: loaded - began, firstMs: first - loaded, secondMs: performance.now() - first };
}

export function bytesIn(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => statSync(join(entry.parentPath, entry.name)).size)
    .reduce((sum, bytes) => sum + bytes, 0);
}
