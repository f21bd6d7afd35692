/**
 * What a call costs as something grows: the number of callers, the number of skills, the image of a Python skill, the size of a
 * component. One after the other, each on its own.
 *
 * @module
 */
import { join } from 'node:path';
import { inBenchFolder } from '../runner/bench-folder.ts';
import { currentLoad, readMachine, type MachineFacts } from '../runner/machine.ts';
import { data, measureImages, type ImageCost } from '../runner/python-wasm/images.ts';
import { measureSizes, type SizeCost } from '../runner/wasm/sizes.ts';
import { CALLERS, measureCallers, type CallersRow } from './callers.ts';
import { COMPONENT_JOB, GROWTH_JOBS, PYTHON_WASM_JOB, type GrowthJob } from './engines.ts';
import { measureSkills, SKILLS, type SkillsRow } from './skills.ts';

export interface GrowthOptions {
  rounds: number;
  seconds: number;
  /** What grows, and by how much; absent: as in the documents. */
  jobs?: readonly GrowthJob[];
  callers?: readonly number[];
  skills?: readonly number[];
  mebibytes?: readonly number[];
  addedBytes?: readonly number[];
}

export interface ImageRow extends ImageCost {
  /** Data that the module body made. */
  mebibytes: number;
}

export interface GrowthReport {
  machine: MachineFacts;
  callers: CallersRow[];
  skills: SkillsRow[];
  images: ImageRow[];
  sizes: SizeCost[];
}

const KIB = 1024;
const MEBIBYTES: readonly number[] = [0, 2, 4, 8, 16, 32, 64];
const ADDED_BYTES: readonly number[] = [1, 64, 256, 1024, 4096, 8192].map((kibibytes) =>
  Math.max(1, kibibytes * KIB),
);
/** So that the bench takes at most four minutes, whatever is asked for. */
const MOST = { secondsOfCallers: 2, secondsOfSkills: 5, rounds: 40 } as const;

export function runGrowthBench(options: GrowthOptions): Promise<GrowthReport> {
  return inBenchFolder((folder) => benchIn(folder, options));
}

async function benchIn(folder: string, options: GrowthOptions): Promise<GrowthReport> {
  const machine = await readMachine(join(folder, 'doctor'), 'component');
  const { jobs = GROWTH_JOBS, callers = CALLERS, skills = SKILLS } = options;
  const ofCallers = await measureCallers(folder, {
    jobs,
    callers,
    seconds: Math.min(options.seconds, MOST.secondsOfCallers),
  });
  const ofSkills: SkillsRow[] = [];
  for (const job of [COMPONENT_JOB, PYTHON_WASM_JOB].filter((one) => jobs.includes(one))) {
    const seconds = Math.min(options.seconds, MOST.secondsOfSkills);
    ofSkills.push(...(await measureSkills(folder, { job, skills, seconds })));
  }
  return {
    machine: { ...machine, loadAtEnd: currentLoad() },
    callers: ofCallers,
    skills: ofSkills,
    images: await imagesOf(folder, options),
    sizes: await measureSizes(COMPONENT_JOB, folder, options.addedBytes ?? ADDED_BYTES),
  };
}

async function imagesOf(
  folder: string,
  { rounds, mebibytes = MEBIBYTES }: GrowthOptions,
): Promise<ImageRow[]> {
  const images = mebibytes.map((size) => ({ name: String(size), code: size === 0 ? '' : data(size) }));
  const costs = await measureImages(folder, { images, rounds: Math.min(rounds, MOST.rounds) });
  return costs.map((cost) => Object.assign(cost, { mebibytes: Number(cost.image) }));
}
