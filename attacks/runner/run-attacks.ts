/**
 * Runs the attack corpus: each attack once without the wall, to show that it works, and once through the runtime,
 * where it must not work; then a harmless call, which must still return the right result.
 *
 * @module
 */
import type { AttackTarget } from '../../src/for-attacks.ts';
import { EDGE_ATTACKS } from '../edges/corpus.ts';
import type { TrustAttack } from '../trust/attack.ts';
import { TRUST_ATTACKS } from '../trust/corpus.ts';
import { WASM_ATTACKS } from '../wasm/corpus.ts';
import { finishRow, type AttackRow, type BenignCall, type Execute } from './attack-row.ts';
import { IN_CONTAINER, openBundleStage, type BundleStage } from './bundle-stage.ts';
import { JS_ATTACKS } from './js-attacks.ts';
import { successIn } from './outcome-view.ts';
import { PATH_TRICKS, type PathTrick } from './path-tricks.ts';
import { GENEROUS_MS } from './patience.ts';
import { PYTHON_ATTACKS } from './python-attacks.ts';
import { CONTAINER, JAVASCRIPT, PYTHON, runSkillAttack, SUBPROCESS, type Corpus } from './run-skill.ts';
import { openTrustHome, runTrustAttack, type TrustRun } from './run-trust.ts';
import { openBenignWasm, runWasmAttack } from './run-wasm.ts';
import { plantSecret } from './secret.ts';
import { openSetting } from './setting.ts';
import type { SkillAttack } from './skill-attack.ts';
import { SUBPROCESS_ATTACKS } from './subprocess-attacks.ts';

export type { AttackRow, Execute } from './attack-row.ts';

export interface RunOptions {
  mode: AttackTarget;
  execute: Execute;
  /** Called for each row when it is ready, in no particular order. */
  onRow?: (row: AttackRow) => void;
  /** Only these attacks. */
  names?: readonly string[];
  /** Concurrent attacks. */
  lanes?: number;
  /** False skips the runs without the wall. */
  controls?: boolean;
}

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
  const run = { ...options, secret: secret.value, stage };
  const shared = { home: home.path, secret: secret.value, execute, benign: JAVASCRIPT.benign };
  const all = {
    subprocess: () => [...skillJobs(SUBPROCESS, SUBPROCESS_ATTACKS, run), ...trickJobs(run)],
    container: () => skillJobs(CONTAINER, SUBPROCESS_ATTACKS, run),
    wasm: () => [
      ...wasmJobs(run, benign),
      ...skillJobs(PYTHON, PYTHON_ATTACKS, run),
      ...skillJobs(JAVASCRIPT, JS_ATTACKS, run),
    ],
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

function skillJobs(corpus: Corpus, attacks: readonly SkillAttack[], run: StagedRun): Job[] {
  const { execute, controls = true, secret, stage } = run;
  return attacks.map((attack) => ({
    name: attack.name,
    run: () => runSkillAttack(attack, { corpus, secret, execute, controls, stage }),
  }));
}

function wasmJobs({ execute, controls = true, secret }: StagedRun, benign: BenignCall): Job[] {
  return WASM_ATTACKS.map((attack) => ({
    name: attack.name,
    run: () => runWasmAttack(attack, { secret, execute, controls, benign }),
  }));
}

function trickJobs(run: StagedRun): Job[] {
  return PATH_TRICKS.map((trick) => ({ name: trick.name, run: () => runTrick(trick, run) }));
}

function trustJobs(attacks: readonly TrustAttack[], run: TrustRun): Job[] {
  return attacks.map((attack) => ({ name: attack.name, run: () => runTrustAttack(attack, run) }));
}

async function runTrick(trick: PathTrick, { execute, secret }: StagedRun): Promise<AttackRow> {
  const { name, description } = trick;
  await using setting = await openSetting(secret, name);
  const bundleDir = await trick.build(setting);
  const control = await trick.control(bundleDir, setting);
  const outcome = await execute(bundleDir, {}, { timeout: GENEROUS_MS, workspace: setting.workspace });
  const harm = [...successIn(outcome, secret), ...(await setting.harm())];
  const facts = { corpus: 'subprocess', name, description, control, outcomes: [outcome], harm } as const;
  return finishRow({ ...facts, harm, proof: 'answer', expected: trick }, execute, SUBPROCESS.benign);
}
