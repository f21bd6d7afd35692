/**
 * Runs one skill in one mode: whether it can run, how its cases end, and what a call costs.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { SkillError } from '../errors.ts';
import type { Skill } from '../load/skill.ts';
import type { Mode } from '../vocabulary/modes.ts';
import type { Outcome } from '../outcome.ts';
import type { Runtime } from '../runtime.ts';
import { answerOf, misfit, type Answer } from './answers.ts';
import type { SkillCase } from './cases.ts';
import type { ModeStudy } from './report.ts';
import type { Workspaces } from './workspaces.ts';

const PAUSE_MS = 30;

export interface Trial {
  skill: Skill;
  mode: Mode;
  isListed: boolean;
  cases: readonly SkillCase[];
  /** Number of further calls to time. */
  calls: number;
  runtime: Runtime;
  workspaces: Workspaces;
  /** The environment of the runtime; each case replaces its content. */
  env: Record<string, string>;
  /** No case starts after this time, as of `performance.now`. */
  deadline: number;
}

export interface TriedMode {
  study: ModeStudy;
  /** By index of the case; undefined for cases that were not run. */
  answers: (Answer | undefined)[];
}

export async function tryMode(trial: Trial): Promise<TriedMode> {
  const { mode, isListed } = trial;
  const study: ModeStudy = {
    mode,
    isListed,
    status: 'works',
    cases: 0,
    fitting: 0,
    results: 0,
    misfits: [],
    denied: [],
  };
  const skill = isListed ? trial.skill : withoutList(trial.skill);
  const reason = await refusalOf({ ...trial, skill });
  if (reason !== undefined) return { study: { ...study, status: 'cannot', reason }, answers: [] };
  if (trial.cases.length === 0) return { study: { ...study, status: 'no cases' }, answers: [] };
  const answers = await tryCases({ ...trial, skill }, study);
  if (study.misfits.length > 0) study.status = 'fails';
  else if (study.cases < trial.cases.length) study.status = 'out of time';
  if (study.status === 'works') await timeCalls({ ...trial, skill }, study);
  return { study, answers };
}

/** Also runs modes that the skill does not list, in a cell, for the information of its author. */
function withoutList(skill: Skill): Skill {
  const { bundle } = skill;
  return { ...skill, bundle: { ...bundle, manifest: { ...bundle.manifest, execution: [] } } };
}

async function refusalOf({ runtime, skill, mode, env }: Trial): Promise<string | undefined> {
  fillEnv(env, skill, undefined);
  try {
    await runtime.plan(skill, { execution: mode });
    return undefined;
  } catch (error) {
    if (error instanceof SkillError) return error.message;
    throw error;
  }
}

async function tryCases(trial: Trial, study: ModeStudy): Promise<(Answer | undefined)[]> {
  const answers: (Answer | undefined)[] = [];
  const denied = new Set<string>();
  for (const [at, one] of trial.cases.entries()) {
    if (performance.now() > trial.deadline) break;
    const workspace = workspaceOf(trial, one);
    const startedAt = performance.now();
    const outcome = await call(trial, one, workspace);
    // Only the first call is sure to start a cell; later ones may find one ready.
    if (outcome.execution) study.firstCallMs ??= performance.now() - startedAt;
    const answer = answerOf(outcome);
    answers[at] = answer;
    study.cases += 1;
    if (answer.kind === 'result') study.results += 1;
    const problem = misfit(answer, one);
    if (problem === undefined) study.fitting += 1;
    else study.misfits.push(`${nameOf(one, at)}: ${problem}`);
    if (outcome.execution) ({ engine: study.engine, wall: study.wall } = outcome.execution);
    for (const { capability, asked } of outcome.capabilities.denied) denied.add(`${capability}: ${asked}`);
    const { memory_peak_bytes: memory } = outcome.usage;
    if (memory > 0) study.memoryBytes = Math.max(study.memoryBytes ?? 0, memory);
  }
  study.denied = [...denied];
  return answers;
}

function call(trial: Trial, one: SkillCase, workspace: { workspace?: string }): Promise<Outcome> {
  const { runtime, skill, mode, env } = trial;
  fillEnv(env, skill, one.env);
  return runtime.execute(skill, one.params, { ...workspace, execution: mode, reject: false });
}

function workspaceOf({ workspaces, skill }: Trial, one: SkillCase): { workspace?: string } {
  return one.workspace === undefined ? {} : { workspace: workspaces.copy(skill.bundle, one.workspace) };
}

/** Measures the median of calls that find a cell ready. */
async function timeCalls(trial: Trial, study: ModeStudy): Promise<void> {
  const { runtime, skill, mode, cases, calls, deadline } = trial;
  const timedCase =
    cases.find(({ error }) => error === undefined) ?? cases.find(({ error }) => error !== 'invalid_params');
  if (timedCase === undefined) return;
  const workspace = workspaceOf(trial, timedCase);
  const samples: number[] = [];
  while (samples.length < calls && performance.now() < deadline) {
    await runtime.warm(skill, { ...workspace, execution: mode });
    // Work that a cell does after a reply must not count towards the next call.
    await sleep(PAUSE_MS);
    const startedAt = performance.now();
    await call(trial, timedCase, workspace);
    samples.push(performance.now() - startedAt);
  }
  if (samples.length > 0) study.callMs = samples.toSorted((a, b) => a - b)[samples.length >> 1] ?? 0;
}

/** Required variables without a value get a made-up one; values of the host are never used. */
export function fillEnv(
  env: Record<string, string>,
  skill: Skill,
  values: Record<string, string> | undefined,
): void {
  for (const name of Object.keys(env)) delete env[name];
  for (const [name, rule] of Object.entries(skill.bundle.manifest.env))
    if (rule.required) env[name] = 'invented-value-of-a-study';
  Object.assign(env, values);
}

export function nameOf(one: SkillCase, at: number): string {
  return one.name ?? `case ${at + 1}`;
}
