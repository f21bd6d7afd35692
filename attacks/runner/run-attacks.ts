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
import { TRUST_ATTACKS } from '../trust/corpus.ts';
import { WASM_ATTACKS } from '../wasm/corpus.ts';
import { finishRow, type AttackRow, type BenignCall, type Execute } from './attack-row.ts';
import { openContainerStage, type ContainerStage } from './container-stage.ts';
import { runControl } from './control.ts';
import { ATTACKS, IN_CONTAINERS, type Attack } from './expectations.ts';
import { successIn } from './outcome-view.ts';
import { JS_ATTACKS } from './js-expectations.ts';
import { PATH_TRICKS, type PathTrick } from './path-tricks.ts';
import { ATTACKS_DIR } from './places.ts';
import { PYTHON_ATTACKS } from './python-expectations.ts';
import { JAVASCRIPT, PYTHON, runScriptAttack, type Corpus } from './run-script.ts';
import type { ScriptAttack } from './script-attack.ts';
import { openTrustHome, runTrustAttack } from './run-trust.ts';
import { openBenignWasm, runWasmAttack } from './run-wasm.ts';
import { plantSecret } from './secret.ts';
import { openSetting, type Setting } from './setting.ts';

export type { AttackRow, Execute } from './attack-row.ts';

const CORPUS = join(ATTACKS_DIR, 'subprocess');
const BENIGN: BenignCall = {
  dir: join(ATTACKS_DIR, 'runner', 'benign'),
  params: { a: 2, b: 40 },
  answer: '{"sum":42}',
};

/** What is attacked: cells of a mode, or the decisions in front of them. */
export type AttackMode = 'subprocess' | 'wasm' | 'container' | 'trust';

export interface RunOptions {
  mode: AttackMode;
  execute: Execute;
  /** Called as rows come in, in no particular order. */
  onRow?: (row: AttackRow) => void;
  /** Only these attacks. */
  names?: readonly string[];
  /** Attacks at a time. */
  lanes?: number;
  /** False leaves out the runs without the wall; those of containers are those of jails. */
  controls?: boolean;
}

const SHOWN_FOR_JAILS = { none: 'the same code works without a wall: see the attacks on jails' };

/** One attack of a mode, by name. */
interface Job {
  name: string;
  run: () => Promise<AttackRow>;
}

export async function runAttacks(options: RunOptions): Promise<AttackRow[]> {
  using secret = plantSecret();
  await using benign = await openBenignWasm();
  using home = openTrustHome();
  using stage = openContainerStage();
  const all = {
    subprocess: () => jailJobs(options, secret.value),
    container: () => containerJobs(options, secret.value, stage),
    wasm: () => wasmJobs(options, secret.value, benign),
    trust: () => trustJobs(options, secret.value, home.path),
  }[options.mode]();
  const jobs = all.filter(({ name }) => options.names?.includes(name) ?? true);
  const rows: AttackRow[] = [];
  const lane = async (): Promise<void> => {
    for (let job = jobs.shift(); job; job = jobs.shift()) {
      const row = await job.run();
      rows.push(row);
      options.onRow?.(row);
    }
  };
  await Promise.all(Array.from({ length: options.lanes ?? 3 }, lane));
  return rows.sort((a, b) => a.name.localeCompare(b.name));
}

function jailJobs(options: RunOptions, secret: string): Job[] {
  return [
    ...ATTACKS.map((attack) => ({ name: attack.name, run: () => runAttack(attack, secret, options) })),
    ...PATH_TRICKS.map((trick) => ({ name: trick.name, run: () => runTrick(trick, secret, options) })),
  ];
}

function containerJobs(options: RunOptions, secret: string, stage: ContainerStage): Job[] {
  const execute: Execute = (dir, params, call) => options.execute(stage.copy(dir), params, call);
  return ATTACKS.map((attack) => ({
    name: attack.name,
    run: () =>
      runAttack({ ...attack, ...IN_CONTAINERS[attack.name] }, secret, {
        controls: false,
        ...options,
        execute,
      }),
  }));
}

function wasmJobs({ execute, controls = true }: RunOptions, secret: string, benign: BenignCall): Job[] {
  const scripts = (corpus: Corpus, attacks: readonly ScriptAttack[]): Job[] =>
    attacks.map((attack) => ({
      name: attack.name,
      run: () => runScriptAttack(attack, { corpus, secret, execute, controls }),
    }));
  return [
    ...WASM_ATTACKS.map((attack) => ({
      name: attack.name,
      run: () => runWasmAttack(attack, { secret, execute, controls, benign }),
    })),
    ...scripts(PYTHON, PYTHON_ATTACKS),
    ...scripts(JAVASCRIPT, JS_ATTACKS),
  ];
}

function trustJobs({ execute }: RunOptions, secret: string, home: string): Job[] {
  return TRUST_ATTACKS.map((attack) => ({
    name: attack.name,
    run: () => runTrustAttack(attack, { home, secret, execute, benign: JAVASCRIPT.benign }),
  }));
}

async function runAttack(attack: Attack, secret: string, options: RunOptions): Promise<AttackRow> {
  const { execute, controls = true } = options;
  const bundleDir = join(CORPUS, attack.name);
  await using setting = await openSetting(secret, bundleDir);
  const control = controls ? await runControl(attack, setting, bundleDir) : SHOWN_FOR_JAILS;
  const outcomes = await callJailed(attack, setting, { bundleDir, execute });
  const harm = [...outcomes.flatMap((outcome) => successIn(outcome, secret)), ...(await setting.harm())];
  const last = outcomes.at(-1)!;
  const { name } = attack;
  const row = { name, description: await describe(name), control, outcome: last, harm, expected: attack };
  return finishRow(row, execute, BENIGN);
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
  return finishRow(row, execute, BENIGN);
}

async function describe(name: string): Promise<string> {
  const manifest = parse(await readFile(join(CORPUS, name, 'manifest.yaml'), 'utf8')) as {
    description: string;
  };
  return manifest.description;
}
