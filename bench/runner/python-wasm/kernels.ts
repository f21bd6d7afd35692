/**
 * CPU-bound work: the same skill in native CPython and in Wasm, as the caller sees it.
 *
 * @module
 */
import { join } from 'node:path';
import { packageRoot } from '../../../src/inside.ts';
import type { Runtime, Skill } from '../../../src/index.ts';
import { assertSame } from '../rounds.ts';
import { quantile } from '../statistics.ts';
import { pythonRuntime } from './ours.ts';

export interface KernelCost {
  kernel: string;
  nativeMs: number;
  wasmMs: number;
  /** In a newly started process: V8 has not optimised its code yet. */
  wasmFirstMs: number;
  /** 2 means twice as long as native. */
  ratio: number;
}

export interface Kernel {
  kernel: string;
  size: number;
}

/** Sizes that take native Python about 50 ms. */
const SIZES: Readonly<Record<string, number>> = {
  calls: 26,
  floats: 110,
  words: 10_000,
  sort: 60_000,
  json: 8000,
  regex: 16_000,
  sha256: 30_000,
  bigint: 400_000,
};
export const KERNELS: readonly Kernel[] = Object.entries(SIZES).map(([kernel, size]) => ({ kernel, size }));

const DIR = join(packageRoot(), 'bench', 'skills', 'kernels');
const WARM_UP = 4;

export async function measureKernels(
  folder: string,
  { kernels, rounds }: { kernels: readonly Kernel[]; rounds: number },
): Promise<KernelCost[]> {
  await using runtime = pythonRuntime(folder, { name: 'kernels', wall: 'jail', options: {} });
  const skill = await runtime.load(DIR);
  const costs: KernelCost[] = [];
  for (const kernel of kernels) costs.push(await measureKernel({ runtime, skill, rounds }, kernel));
  return costs;
}

async function measureKernel(
  { runtime, skill, rounds }: { runtime: Runtime; skill: Skill; rounds: number },
  params: Kernel,
): Promise<KernelCost> {
  const timed = async (execution: 'subprocess' | 'wasm'): Promise<{ ms: number; result: string }> => {
    await runtime.warm(skill, { execution });
    const began = performance.now();
    const { result } = await runtime.execute(skill, params, { execution });
    return { ms: performance.now() - began, result: JSON.stringify(result) };
  };
  const samples = { subprocess: [] as number[], wasm: [] as number[] };
  for (let round = 0; round < rounds + WARM_UP; round++) {
    const [native, wasm] = [await timed('subprocess'), await timed('wasm')];
    assertSame(`${params.kernel} in Wasm`, wasm.result, native.result);
    samples.subprocess.push(native.ms);
    samples.wasm.push(wasm.ms);
  }
  const [nativeMs, wasmMs] = [samples.subprocess, samples.wasm].map((all) =>
    quantile(all.slice(WARM_UP), 0.5),
  ) as [number, number];
  const [wasmFirstMs = NaN] = samples.wasm;
  return { kernel: params.kernel, nativeMs, wasmMs, wasmFirstMs, ratio: wasmMs / nativeMs };
}
