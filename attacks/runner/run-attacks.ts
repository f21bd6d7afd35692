/**
 * Runs the attack corpus: each attack once without the wall, to show that it works, and once through the runtime,
 * where it must not; then a harmless call, which must still give the right answer.
 *
 * @module
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { Outcome } from '../../src/outcome.ts';
import { runControl, type ControlResult } from './control.ts';
import { ATTACKS, type Attack } from './expectations.ts';
import { codeOf, evidenceOf, successIn, unexpectedIn } from './outcome-view.ts';
import { PATH_TRICKS, type PathTrick } from './path-tricks.ts';
import { plantSecret } from './secret.ts';
import { openSetting, type Setting } from './setting.ts';

const CORPUS = join(import.meta.dirname, '..', 'subprocess');
const BENIGN = join(import.meta.dirname, 'benign');

export interface ExecuteOptions {
  timeout?: number;
  workspace?: string;
}

/** Calls a bundle through the runtime under test and never rejects for a failed call. */
export type Execute = (bundleDir: string, params: unknown, options: ExecuteOptions) => Promise<Outcome>;

export interface AttackRow {
  name: string;
  description: string;
  control: 'works' | 'inconclusive';
  controlEvidence: string;
  code: string;
  /** True when nothing came of the attack and the next call works. */
  stopped: boolean;
  /** Set when the attack was stopped, but with another answer than it must get. */
  unexpected?: string;
  evidence: string;
}

export interface RunOptions {
  mode: 'subprocess';
  execute: Execute;
  /** Called as rows come in, in no particular order. */
  onRow?: (row: AttackRow) => void;
  /** Only these attacks. */
  names?: readonly string[];
  /** Attacks at a time. */
  lanes?: number;
}

export async function runAttacks(options: RunOptions): Promise<AttackRow[]> {
  using secret = plantSecret();
  const wanted = (name: string): boolean => options.names?.includes(name) ?? true;
  const jobs = [
    ...ATTACKS.filter(({ name }) => wanted(name)).map(
      (attack) => () => runAttack(attack, secret.value, options),
    ),
    ...PATH_TRICKS.filter(({ name }) => wanted(name)).map(
      (trick) => () => runTrick(trick, secret.value, options),
    ),
  ];
  const rows: AttackRow[] = [];
  const lane = async (): Promise<void> => {
    for (let job = jobs.shift(); job; job = jobs.shift()) {
      const row = await job();
      rows.push(row);
      options.onRow?.(row);
    }
  };
  await Promise.all(Array.from({ length: options.lanes ?? 3 }, lane));
  return rows.sort((a, b) => a.name.localeCompare(b.name));
}

async function runAttack(attack: Attack, secret: string, { execute }: RunOptions): Promise<AttackRow> {
  const bundleDir = join(CORPUS, attack.name);
  await using setting = await openSetting(secret, bundleDir);
  const control = await runControl(attack, setting, bundleDir);
  const outcomes = await callJailed(attack, setting, { bundleDir, execute });
  const harm = [...outcomes.flatMap((outcome) => successIn(outcome, secret)), ...(await setting.harm())];
  const last = outcomes.at(-1)!;
  return finishRow({ name: attack.name, control, outcome: last, harm, expected: attack }, execute);
}

interface JailedCall {
  bundleDir: string;
  execute: Execute;
}

async function callJailed(attack: Attack, setting: Setting, call: JailedCall): Promise<Outcome[]> {
  const options = { timeout: attack.timeout, workspace: setting.workspace };
  const params = { ...setting.params, ...attack.prelude?.params };
  if (attack.prelude) await call.execute(attack.prelude.dir, params, options);
  const callWith = (extra: Record<string, string>): Promise<Outcome> =>
    call.execute(call.bundleDir, { ...params, ...extra }, options);
  if (attack.together) return Promise.all(attack.calls.map(callWith));
  const outcomes: Outcome[] = [];
  for (const extra of attack.calls) {
    outcomes.push(await callWith(extra));
  }
  return outcomes;
}

async function runTrick(trick: PathTrick, secret: string, { execute }: RunOptions): Promise<AttackRow> {
  await using setting = await openSetting(secret, trick.name);
  const bundleDir = await trick.build(setting);
  const control = await trick.control(bundleDir, setting);
  const outcome = await execute(bundleDir, {}, { timeout: 5000, workspace: setting.workspace });
  const harm = [...successIn(outcome, secret), ...(await setting.harm())];
  const row = { name: trick.name, description: trick.description, control, outcome, harm, expected: trick };
  return finishRow(row, execute);
}

interface Finding {
  name: string;
  description?: string;
  control: ControlResult;
  outcome: Outcome;
  harm: string[];
  expected: Pick<Attack, 'codes' | 'limits'>;
}

async function finishRow(finding: Finding, execute: Execute): Promise<AttackRow> {
  const { control, outcome } = finding;
  const harm = [...finding.harm, ...(await brokenNextCall(execute))];
  const unexpected = unexpectedIn(outcome, finding.expected);
  return {
    name: finding.name,
    description: finding.description ?? (await describe(finding.name)),
    control: control.works ? 'works' : 'inconclusive',
    controlEvidence: control.evidence,
    code: codeOf(outcome),
    stopped: harm.length === 0,
    ...(unexpected === undefined ? {} : { unexpected }),
    evidence: harm.length > 0 ? harm.join('; ') : evidenceOf(outcome),
  };
}

async function brokenNextCall(execute: Execute): Promise<string[]> {
  const outcome = await execute(BENIGN, { a: 2, b: 40 }, { timeout: 20_000 });
  const isRight = outcome.ok && JSON.stringify(outcome.result) === '{"sum":42}';
  return isRight ? [] : [`the next call answered ${codeOf(outcome)}: ${evidenceOf(outcome)}`];
}

async function describe(name: string): Promise<string> {
  const manifest = parse(await readFile(join(CORPUS, name, 'manifest.yaml'), 'utf8')) as {
    description: string;
  };
  return manifest.description;
}
