/**
 * The complete bench of Wasm cells: rounds, throughput, sizes, fuel.
 *
 * @module
 */
import { join } from 'node:path';
import { SkillError } from '../../../src/index.ts';
import { inBenchFolder } from '../bench-folder.ts';
import { currentLoad, readMachine, type MachineFacts } from '../machine.ts';
import type { Variant } from '../rounds.ts';
import type { Target } from '../targets.ts';
import { measureBursts, type BurstRow } from './bursts.ts';
import { measureCrowd, type Crowd } from './crowd.ts';
import { measureFuel, type FuelCost } from './fuel.ts';
import { builtLanguages, C, PARAMS, type Language } from './languages.ts';
import { OurWasmVariants } from './ours.ts';
import { measureSizes, type SizeCost } from './sizes.ts';
import { checkWasmTargets } from './targets.ts';

export interface WasmBenchOptions {
  rounds: number;
  /** Duration of the throughput measurement for each language. */
  seconds: number;
  /** Other sandboxes to measure in the same rounds. */
  peers?: readonly Variant[];
  languages?: readonly Language[];
}

export interface WasmReport {
  machine: MachineFacts;
  params: Readonly<Record<string, unknown>>;
  rows: BurstRow[];
  crowds: Crowd[];
  sizes: SizeCost[];
  fuel: FuelCost[];
  targets: Target[];
}

export function runWasmBench(options: WasmBenchOptions): Promise<WasmReport> {
  return inBenchFolder((folder) => benchIn(folder, options));
}

async function benchIn(folder: string, options: WasmBenchOptions): Promise<WasmReport> {
  const languages = options.languages ?? builtLanguages();
  if (languages.length === 0) throw nothingBuilt();
  const machine = await readMachine(join(folder, 'doctor'), 'component');
  const fuel = languages.map(measureFuel).filter((cost) => cost !== undefined);
  const rows = await measureRows(folder, languages, options);
  const crowds: Crowd[] = [];
  for (const language of languages) crowds.push(await measureCrowd(language, folder, options.seconds));
  const padded = languages.find(({ name }) => name === C);
  const sizes = padded ? await measureSizes(padded, folder) : [];
  const targets = checkWasmTargets({ rows, crowds, fuel });
  const loadAtEnd = currentLoad();
  return { machine: { ...machine, loadAtEnd }, params: PARAMS, rows, crowds, sizes, fuel, targets };
}

async function measureRows(
  folder: string,
  languages: readonly Language[],
  { rounds, peers = [] }: WasmBenchOptions,
): Promise<BurstRow[]> {
  await using ours = new OurWasmVariants(folder);
  return await measureBursts([...(await ours.of(languages)), ...peers], rounds);
}

function nothingBuilt(): SkillError {
  return new SkillError('skill_unavailable', 'None of the skills "text/word_stats_*" has been built', {
    fix: 'Build one, e.g. with `skillcell build skills/text/word_stats_c`.',
  });
}
