/**
 * What compare-skillware.ts found, as tables of Markdown.
 *
 * @module
 */
import type { SkillComparison, SkillwareReport } from './compare-skillware.ts';
import { MODES, type ModeResult } from './skillware-modes.ts';
import { NOT_RUN, SAMPLES } from './skillware-samples.ts';

const MIB = 1024 ** 2;

/** What a bundle is to the engine python-wasm. */
export type SkillClass = 'runs' | 'runs, network by the broker' | 'cannot';

export function classOf({ modes, networkModules }: SkillComparison): SkillClass {
  if (!modes.wasm || modes.wasm.refusal !== undefined) return 'cannot';
  const asked = modes.wasm.denied.some((text) => text.startsWith('network'));
  return asked || networkModules.length > 0 ? 'runs, network by the broker' : 'runs';
}

/** Samples that are equal, per mode, with remarks. */
export function formatEquality({ skills }: SkillwareReport): string {
  return table([
    ['skill', 'loads', ...MODES, 'remark'],
    ...skills.map((one) => [
      one.skill,
      one.refusal === undefined ? 'yes' : 'no',
      ...MODES.map((mode) => equalOf(one.modes[mode])),
      one.refusal ?? remarkOf(one),
    ]),
  ]);
}

/** Bundle by bundle, what Wasm makes of it and why. */
export function formatMatrix({ skills }: SkillwareReport): string {
  return table([
    ['skill', 'requirements', 'class', 'samples equal in Wasm', 'reaches for', 'why'],
    ...skills.map((one) => [
      one.skill,
      one.requirements.join(', ') || 'none',
      classOf(one),
      equalOf(one.modes.wasm),
      [...new Set([...one.networkModules, ...(one.modes.wasm?.denied ?? [])])].join(', '),
      reasonOf(one),
    ]),
  ]);
}

/** Both modes side by side: what a call takes, and what is installed for it. */
export function formatCosts({ skills }: SkillwareReport): string {
  return table([
    [
      'skill',
      'first call, subprocess',
      'first call, Wasm',
      'call, subprocess',
      'call, Wasm',
      'packages, subprocess',
      'packages, Wasm',
      'the skill itself',
    ],
    ...skills.map(({ skill, modes: { subprocess, wasm }, bundleBytes }) => [
      skill,
      milliseconds(subprocess?.firstCallMs, 0),
      milliseconds(wasm?.firstCallMs, 0),
      milliseconds(subprocess?.callMs, 1),
      milliseconds(wasm?.callMs, 1),
      mebibytes(subprocess?.packageBytes),
      mebibytes(wasm?.packageBytes),
      mebibytes(bundleBytes),
    ]),
  ]);
}

/** How many bundles are in each class. */
export function formatClasses({ skills }: SkillwareReport): string {
  const classes: SkillClass[] = ['runs', 'runs, network by the broker', 'cannot'];
  return table([
    ['class', 'bundles', 'samples equal'],
    ...classes.map((name) => {
      const members = skills.filter((one) => classOf(one) === name);
      const sum = (part: 'samples' | 'equal'): number =>
        members.reduce((total, { modes }) => total + (modes.wasm?.[part] ?? 0), 0);
      return [
        name,
        String(members.length),
        name === 'cannot' ? 'none run' : `${sum('equal')} of ${sum('samples')}`,
      ];
    }),
  ]);
}

/** Pip says much; what it did not find is the point. */
function reasonOf({ modes, requirements }: SkillComparison): string {
  const refusal = modes.wasm?.refusal ?? '';
  if (!refusal.includes('pip could not install')) return refusal;
  const missing = /No matching distribution found for ([^\s;]+)/.exec(refusal)?.[1];
  return missing === undefined
    ? `pip found no set of wheels for ${requirements.join(', ')} that this engine can load`
    : `the index has no wheel of ${missing} that this engine can load`;
}

function equalOf(mode: ModeResult | undefined): string {
  if (!mode || mode.refusal !== undefined) return 'cannot run';
  return mode.samples === 0 ? 'not run' : `${mode.equal}/${mode.samples}`;
}

function remarkOf({ skill, modes }: SkillComparison): string {
  const samples = SAMPLES[skill];
  const differing = MODES.filter((mode) => (modes[mode]?.differing.length ?? 0) > 0);
  const parts = [
    ...differing.map((mode) => `DIFFERS in ${mode}`),
    ...[samples ? samples.remark : (NOT_RUN[skill] ?? 'no samples for it')].filter(
      (text) => text !== undefined,
    ),
    ...(samples?.allowed ?? []).map(({ path, how, reason }) =>
      how === 'ignore' ? `\`${path}\` left out: ${reason}` : `\`${path}\` compared without order: ${reason}`,
    ),
  ];
  return parts.join('; ');
}

function milliseconds(ms: number | undefined, digits: number): string {
  return ms === undefined ? '' : `${ms.toFixed(digits)} ms`;
}

function mebibytes(bytes: number | undefined): string {
  return bytes === undefined ? '' : `${(bytes / MIB).toFixed(1)} MiB`;
}

/** A table of Markdown; the first row is its head. Text that would end a cell is escaped. */
export function table([head = [], ...rows]: readonly string[][]): string {
  return [head, head.map(() => '---'), ...rows]
    .map(
      (row) =>
        `| ${row.map((cell) => cell.replaceAll('|', String.raw`\|`).replaceAll('\n', ' ')).join(' | ')} |`,
    )
    .join('\n');
}
