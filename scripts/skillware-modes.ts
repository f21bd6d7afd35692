/**
 * One bundle in one mode, for compare-skillware.ts: whether it can run there, how many samples come out the same as in
 * Skillware, what was denied, and how long calls take.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { PAUSE_MS } from '../bench/runner/rounds.ts';
import { quantile } from '../bench/runner/statistics.ts';
import { SkillError, type Runtime, type Skill } from '../src/index.ts';
import { answerOf, isSame, type Answer, type Reference } from './skillware-reference.ts';
import { SAMPLES } from './skillware-samples.ts';

export const MODES = ['subprocess', 'wasm'] as const;
export type ComparedMode = (typeof MODES)[number];

export interface ModeResult {
  /** Why the mode cannot run the bundle at all. */
  refusal?: string;
  samples: number;
  equal: number;
  /** How many samples gave a result, as opposed to an error that is the same on both sides. */
  results: number;
  differing: string[];
  /** What samples asked for and did not get. */
  denied: string[];
  /** First call of a cell that has to be started, and median of calls with one that is ready; of the first sample. */
  firstCallMs?: number;
  callMs?: number;
  /** Packages as installed for this mode; absent when there are none. */
  packageBytes?: number;
}

export interface Comparison {
  skill: Skill;
  runtime: Runtime;
  reference: Reference;
}

const TIMED_CALLS = 20;

export async function compareMode(
  { skill, runtime, reference }: Comparison,
  mode: ComparedMode,
): Promise<ModeResult> {
  const result: ModeResult = { samples: 0, equal: 0, results: 0, differing: [], denied: [] };
  const refusal = await refusalOf(runtime, skill, mode);
  if (refusal !== undefined) return { ...result, refusal };
  const { params = [], env = {}, allowed = [] } = SAMPLES[skill.bundle.manifest.name] ?? {};
  const timing = params[0] === undefined ? {} : await timeCalls({ runtime, skill, params: params[0] }, mode);
  const denied = new Set<string>();
  for (const one of params) {
    const outcome = await runtime.execute(skill, one, { reject: false, execution: mode });
    const [ours, theirs] = [answerOf(outcome), reference(skill.bundle.sourceDir, one, env)];
    for (const { capability, asked } of outcome.capabilities.denied) denied.add(`${capability}: ${asked}`);
    result.samples += 1;
    if (ours.kind === 'result') result.results += 1;
    if (isSame(ours, theirs, allowed)) result.equal += 1;
    else result.differing.push(describe(one, ours, theirs));
  }
  return { ...result, ...timing, denied: [...denied] };
}

async function refusalOf(runtime: Runtime, skill: Skill, mode: ComparedMode): Promise<string | undefined> {
  try {
    await runtime.plan(skill, { execution: mode });
    return undefined;
  } catch (error) {
    if (error instanceof SkillError) return error.message;
    throw error;
  }
}

async function timeCalls(
  { runtime, skill, params }: { runtime: Runtime; skill: Skill; params: unknown },
  execution: ComparedMode,
): Promise<Required<Pick<ModeResult, 'firstCallMs' | 'callMs'>>> {
  const timed = async (): Promise<number> => {
    const began = performance.now();
    await runtime.execute(skill, params, { reject: false, execution });
    return performance.now() - began;
  };
  const firstCallMs = await timed();
  const samples: number[] = [];
  for (let call = 0; call < TIMED_CALLS; call++) {
    await runtime.warm(skill, { execution });
    // What a cell does after a reply is not part of the next call.
    await sleep(PAUSE_MS);
    samples.push(await timed());
  }
  return { firstCallMs, callMs: quantile(samples, 0.5) };
}

function describe(params: unknown, ours: Answer, theirs: Answer): string {
  const [asked, here, there] = [params, ours, theirs].map((value) => JSON.stringify(value));
  return `${asked}\n  here:      ${here}\n  Skillware: ${there}`;
}
