/**
 * The jobs whose cost is measured as something grows: one per way to run code.
 *
 * @module
 */
import { join } from 'node:path';
import { createRuntime, type Outcome, type Runtime, type Skill } from '../../src/index.ts';
import { packageRoot } from '../../src/inside.ts';
import { ECHO_WORDS, TEXT } from '../runner/jobs.ts';

export interface GrowthJob {
  name: string;
  /** Folder of the skill. */
  dir: string;
  execution: 'subprocess' | 'wasm';
}

export const NATIVE_PYTHON = 'native Python';
export const COMPONENT = 'component (C)';
export const TYPESCRIPT = 'TypeScript';
export const PYTHON_WASM = 'Python in Wasm';

const inSkills = (name: string): string => join(packageRoot(), 'skills', 'text', name);

export const COMPONENT_JOB: GrowthJob = {
  name: COMPONENT,
  dir: inSkills('word_stats_c'),
  execution: 'wasm',
};
export const PYTHON_WASM_JOB: GrowthJob = { name: PYTHON_WASM, dir: ECHO_WORDS.dir, execution: 'wasm' };

export const GROWTH_JOBS: readonly GrowthJob[] = [
  { name: NATIVE_PYTHON, dir: ECHO_WORDS.dir, execution: 'subprocess' },
  COMPONENT_JOB,
  { name: TYPESCRIPT, dir: inSkills('word_stats'), execution: 'wasm' },
  PYTHON_WASM_JOB,
];

/** With the default options. All runtimes of the bench share one home, so that Python is prepared once. */
export function growthRuntime(folder: string): Runtime {
  return createRuntime({ home: join(folder, 'python-wasm'), caller: 'bench' });
}

export function callOf(runtime: Runtime, skill: Skill, { execution }: GrowthJob): () => Promise<Outcome> {
  return () => runtime.execute(skill, { text: TEXT }, { execution, reject: false });
}
