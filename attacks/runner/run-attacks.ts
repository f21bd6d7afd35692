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
import { EDGE_ATTACKS } from '../edges/corpus.ts';
import type { TrustAttack } from '../trust/attack.ts';
import { TRUST_ATTACKS } from '../trust/corpus.ts';
import { WASM_ATTACKS } from '../wasm/corpus.ts';
import { finishRow, type AttackRow, type BenignCall, type CorpusName, type Execute } from './attack-row.ts';
import { IN_CONTAINER, openBundleStage, type BundleStage } from './bundle-stage.ts';
import { runControl } from './control.ts';
import { ATTACKS, IN_CONTAINERS, type Attack } from './expectations.ts';
import { evidenceOf, successIn } from './outcome-view.ts';
import { JS_ATTACKS } from './js-expectations.ts';
import { PATH_TRICKS, type PathTrick } from './path-tricks.ts';
import { ATTACKS_DIR } from './places.ts';
import { callUntilReached, missingProof } from './proof.ts';
import { PYTHON_ATTACKS } from './python-expectations.ts';
import { JAVASCRIPT, PYTHON, runScriptAttack, type Corpus } from './run-script.ts';
import type { ScriptAttack } from './script-attack.ts';
import { openTrustHome, runTrustAttack, type TrustRun } from './run-trust.ts';
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

/** What is attacked: cells of a mode, the decisions in front of them, or commands and services and those who use them. */
export type AttackMode = 'subprocess' | 'wasm' | 'container' | 'trust' | 'edges';

export interface RunOptions {
  mode: AttackMode;
  execute: Execute;
  /** Called as rows come in, in no particular order. */
  onRow?: (row: AttackRow) => void;
  /** Only these attacks. */
  names?: readonly string[];
  /** Attacks at a time. */
  lanes?: number;
  /** False leaves out the runs without the wall. */
  controls?: boolean;
}

const NOT_RUN = { none: 'Not run.' };

/** One attack of a mode, by name. */
interface Job {
  name: string;
  run: () => Promise<AttackRow>;
}

export async function runAttacks(options: RunOptions): Promise<AttackRow[]> {
  using secret = plantSecret();
  await using benign = await openBenignWasm();
  using home = openTrustHome();
  using stage = openBundleStage(options.mode === 'container' ? IN_CONTAINER : {});
  const { execute } = options;
  const shared = { home: home.path, secret: secret.value, execute, benign: JAVASCRIPT.benign };
  const all = {
    subprocess: () => jailJobs({ ...options, secret: secret.value, stage }),
    container: () => containerJobs({ ...options, secret: secret.value, stage }),
    wasm: () => wasmJobs({ ...options, secret: secret.value, stage }, benign),
    trust: () => trustJobs(TRUST_ATTACKS, { ...shared, corpus: 'trust' }),
    edges: () => trustJobs(EDGE_ATTACKS, { ...shared, corpus: 'edges' }),
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

interface StagedRun extends RunOptions {
  secret: string;
  stage: BundleStage;
}

function jailJobs(run: StagedRun): Job[] {
  return [
    ...ATTACKS.map((attack) => ({ name: attack.name, run: () => runAttack(attack, 'subprocess', run) })),
    ...PATH_TRICKS.map((trick) => ({ name: trick.name, run: () => runTrick(trick, run) })),
  ];
}

function containerJobs(run: StagedRun): Job[] {
  return ATTACKS.map((attack) => ({
    name: attack.name,
    run: () => runAttack({ ...attack, ...IN_CONTAINERS[attack.name] }, 'container', run),
  }));
}

function wasmJobs({ execute, controls = true, secret, stage }: StagedRun, benign: BenignCall): Job[] {
  const scripts = (corpus: Corpus, attacks: readonly ScriptAttack[]): Job[] =>
    attacks.map((attack) => ({
      name: attack.name,
      run: () => runScriptAttack(attack, { corpus, secret, execute, controls, stage }),
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

function trustJobs(attacks: readonly TrustAttack[], run: TrustRun): Job[] {
  return attacks.map((attack) => ({ name: attack.name, run: () => runTrustAttack(attack, run) }));
}

async function runAttack(attack: Attack, corpus: CorpusName, run: StagedRun): Promise<AttackRow> {
  const { execute, controls = true, secret, stage } = run;
  const { name } = attack;
  const bundleDir = stage.attack(join(CORPUS, name));
  await using setting = await openSetting(secret, bundleDir);
  const control = controls ? await runControl(attack, setting, bundleDir) : NOT_RUN;
  const { outcomes, didNotRun } = await callJailed(attack, setting, { bundleDir, execute, stage });
  const harm = [...outcomes.flatMap((outcome) => successIn(outcome, secret)), ...(await setting.harm())];
  const facts = { corpus, name, description: await describe(name), control, outcomes, didNotRun, harm };
  const benign = { ...BENIGN, dir: stage.helper(BENIGN.dir) };
  return finishRow({ ...facts, proof: 'marker', expected: attack }, execute, benign);
}

interface JailedCall {
  bundleDir: string;
  execute: Execute;
  stage: BundleStage;
}

interface JailedCalls {
  outcomes: Outcome[];
  didNotRun: string | undefined;
}

async function callJailed(attack: Attack, setting: Setting, call: JailedCall): Promise<JailedCalls> {
  const options = { timeout: attack.timeout, workspace: setting.workspace };
  const params = { ...setting.params, ...attack.prelude?.params };
  let didNotRun: string | undefined;
  if (attack.prelude) {
    const prelude = await call.execute(call.stage.helper(attack.prelude.dir), params, options);
    if (!prelude.ok) didNotRun = `the call before it failed: ${evidenceOf(prelude)}`;
  }
  const callWith = (extra: Record<string, string>): Promise<Outcome> =>
    callUntilReached(
      (timeout) => call.execute(call.bundleDir, { ...params, ...extra }, { ...options, timeout }),
      attack.timeout,
      (outcome) => missingProof(outcome, 'marker', attack) === undefined,
    );
  if (attack.together) return { outcomes: await Promise.all(attack.calls.map(callWith)), didNotRun };
  const outcomes: Outcome[] = [];
  for (const extra of attack.calls) {
    outcomes.push(await callWith(extra));
  }
  return { outcomes, didNotRun };
}

async function runTrick(trick: PathTrick, { execute, secret }: StagedRun): Promise<AttackRow> {
  const { name, description } = trick;
  await using setting = await openSetting(secret, name);
  const bundleDir = await trick.build(setting);
  const control = await trick.control(bundleDir, setting);
  const outcome = await execute(bundleDir, {}, { timeout: 5000, workspace: setting.workspace });
  const harm = [...successIn(outcome, secret), ...(await setting.harm())];
  const facts = { corpus: 'subprocess', name, description, control, outcomes: [outcome], harm } as const;
  return finishRow({ ...facts, harm, proof: 'answer', expected: trick }, execute, BENIGN);
}

async function describe(name: string): Promise<string> {
  const manifest = parse(await readFile(join(CORPUS, name, 'manifest.yaml'), 'utf8')) as {
    description: string;
  };
  return manifest.description;
}
