/**
 * Runs the attacks on Wasm cells.
 *
 * @module
 */
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Outcome } from '../../src/for-attacks.ts';
import { skillComponent } from '../wasm/component.ts';
import type { WasmAttack } from '../wasm/attack.ts';
import { builtProgram } from '../wasm/programs.ts';
import { finishRow, type AttackRow, type BenignCall, type Execute, type Finding } from './attack-row.ts';
import { runWasmControl } from './control.ts';
import { successIn } from './outcome-view.ts';
import { PATIENT_LIMITS } from './patience.ts';
import { callUntilStopped, missingProof } from './proof.ts';
import { openScene, swapWhenReady, type OpenScene } from './scene.ts';
import { openSetting } from './setting.ts';

export interface WasmRun {
  secret: string;
  execute: Execute;
  benign: BenignCall;
  /** Whether each attack is also shown to work without the wall. */
  controls: boolean;
}

export async function runWasmAttack(attack: WasmAttack, run: WasmRun): Promise<AttackRow> {
  await using setting = await openSetting(run.secret, attack.name);
  await using scene = await openScene(attack, setting);
  const control = run.controls ? await controlOf(attack, scene) : { none: 'Not run.' };
  const outcomes = await callJailed(attack, scene, run.execute);
  const harm = [...outcomes.flatMap((outcome) => successIn(outcome, run.secret)), ...(await setting.harm())];
  const { name, description } = attack;
  const facts = { corpus: 'wasm', name, description, control, outcomes, harm } as const;
  return finishRow({ ...facts, proof: 'work', expected: attack }, run.execute, run.benign);
}

async function controlOf(attack: WasmAttack, scene: OpenScene): Promise<Finding['control']> {
  return 'none' in attack.control ? attack.control : runWasmControl(attack, scene, attack.control.judge);
}

async function callJailed(attack: WasmAttack, scene: OpenScene, execute: Execute): Promise<Outcome[]> {
  const { workspace } = scene.setting;
  const done = new AbortController();
  const swapped = attack.swap ? swapWhenReady(workspace, done.signal) : undefined;
  const outcomes: Outcome[] = [];
  for (let call = 0; call < attack.calls; call++) {
    if (call > 0) await sleep(attack.pauseMs);
    const outcome = await callUntilStopped(
      (timeout) => execute(scene.bundleDir, attack.params(scene), { timeout, workspace }),
      attack,
      (ended) => missingProof(ended, 'work', attack) === undefined,
    );
    outcomes.push(outcome);
  }
  done.abort();
  await swapped;
  return outcomes;
}

export interface BenignSkill extends BenignCall, AsyncDisposable {}

/** A component that returns its parameters. */
export async function openBenignWasm(): Promise<BenignSkill> {
  const dir = await mkdtemp(join(tmpdir(), 'skillcell-benign-'));
  await chmod(dir, 0o755);
  const bundle = join(dir, 'echo');
  await mkdir(bundle);
  const manifest = {
    name: 'runner/echo',
    version: '1.0.0',
    description: 'Returns its parameters, to check that calls still work after an attack.',
    execution: 'wasm',
    entry: 'skill.wasm',
    limits: PATIENT_LIMITS,
    capabilities: {},
  };
  const component = skillComponent({ main: builtProgram('echo'), allocator: builtProgram('allocator') });
  await writeFile(join(bundle, 'manifest.yaml'), JSON.stringify(manifest));
  await writeFile(join(bundle, 'skill.wasm'), component);
  return {
    dir: bundle,
    params: { sum: 42 },
    answer: '{"sum":42}',
    [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }),
  };
}
