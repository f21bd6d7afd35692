/**
 * The results of compare-skillware.ts as Markdown tables.
 *
 * @module
 */
import type { ModeStudy, SkillStudy } from '../src/inside.ts';
import { formatDependencies, formatStudyCosts, table } from '../src/study/format.ts';
import type { SkillwareReport } from './compare-skillware.ts';
import { NOT_RUN, SAMPLES } from './skillware-samples.ts';

export { table };

const MODES = ['subprocess', 'wasm'] as const;

/** How a bundle fits the engine python-wasm. */
export type SkillClass = 'runs' | 'runs, network by the broker' | 'cannot';

const modeOf = ({ modes }: SkillStudy, mode: string): ModeStudy | undefined =>
  modes.find((one) => one.mode === mode);

function classOf(skill: SkillStudy): SkillClass {
  const wasm = modeOf(skill, 'wasm');
  if (!wasm || wasm.status === 'cannot') return 'cannot';
  const isNetworked = skill.dependencies.some((one) => one.class === 'network');
  return isNetworked ? 'runs, network by the broker' : 'runs';
}

/** Equal samples per mode, with remarks. */
export function formatEquality({ study }: SkillwareReport): string {
  return table([
    ['skill', 'loads', ...MODES, 'remark'],
    ...study.skills.map((one) => [
      one.name,
      one.problem?.isFault ? 'no' : 'yes',
      ...MODES.map((mode) => equalOf(modeOf(one, mode))),
      one.problem?.isFault ? one.problem.text : remarkOf(one),
    ]),
  ]);
}

/** Bundle by bundle: what it depends on, and whether and why it runs in Wasm. */
export function formatMatrix({ study }: SkillwareReport): string {
  return table([
    ['skill', 'requirements', 'class', 'samples equal in Wasm', 'depends on', 'why not'],
    ...study.skills.map((one) => [
      one.name,
      one.requirements.join(', ') || 'none',
      classOf(one),
      equalOf(modeOf(one, 'wasm')),
      one.dependencies.map((dependency) => dependency.class).join(', '),
      reasonOf(one),
    ]),
  ]);
}

/** For each dependency of each bundle, the evidence for it. */
export function formatReasons({ study }: SkillwareReport): string {
  return formatDependencies(study);
}

/** Modes side by side: the cost of a call, and the size of what is installed for it. */
export function formatCosts({ study }: SkillwareReport): string {
  return formatStudyCosts(study);
}

/** Number of bundles in each class. */
export function formatClasses({ study }: SkillwareReport): string {
  const classes: SkillClass[] = ['runs', 'runs, network by the broker', 'cannot'];
  return table([
    ['class', 'bundles', 'samples equal'],
    ...classes.map((name) => {
      const members = study.skills.filter((one) => classOf(one) === name);
      const sum = (part: 'cases' | 'fitting'): number =>
        members.reduce((total, one) => total + (modeOf(one, 'wasm')?.[part] ?? 0), 0);
      const equal = name === 'cannot' ? 'none run' : `${sum('fitting')} of ${sum('cases')}`;
      return [name, String(members.length), equal];
    }),
  ]);
}

/** Pip prints a lot; only what it did not find matters. */
function reasonOf(skill: SkillStudy): string {
  const refusal = modeOf(skill, 'wasm')?.reason ?? '';
  if (!refusal.includes('pip could not install')) return refusal;
  const missing = /No matching distribution found for ([^\s;]+)/.exec(refusal)?.[1];
  return missing === undefined
    ? `pip found no set of wheels for ${skill.requirements.join(', ')} that this engine can load`
    : `the index has no wheel of ${missing} that this engine can load`;
}

function equalOf(mode: ModeStudy | undefined): string {
  if (!mode || mode.status === 'cannot') return 'cannot run';
  return mode.cases === 0 ? 'not run' : `${mode.fitting}/${mode.cases}`;
}

function remarkOf({ name, modes }: SkillStudy): string {
  const samples = SAMPLES[name];
  const differing = modes.filter(({ status }) => status === 'fails').map(({ mode }) => `DIFFERS in ${mode}`);
  const remark = samples ? samples.remark : (NOT_RUN[name] ?? 'no samples for it');
  const remarksFor = (words: string, paths: Readonly<Record<string, string>> = {}): string[] =>
    Object.entries(paths).map(([path, reason]) => `\`${path}\` ${words}: ${reason}`);
  return [
    ...differing,
    ...(remark === undefined ? [] : [remark]),
    ...remarksFor('left out', samples?.ignore),
    ...remarksFor('compared without order', samples?.unordered),
  ].join('; ');
}
