/**
 * Runs the attacks on trust, each in its own project, with one home for all of them.
 *
 * @module
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import type { TrustAttack } from '../trust/attack.ts';
import { openTrustStage, type TrustStage } from '../trust/stage.ts';
import { finishRow, type AttackRow, type BenignCall, type Execute, type Finding } from './attack-row.ts';
import { successIn } from './outcome-view.ts';

export interface TrustHome {
  readonly path: string;
  [Symbol.dispose](): void;
}

export function openTrustHome(): TrustHome {
  const path = mkdtempSync('/var/tmp/skillcell-trust-home-');
  chmodSync(path, 0o755);
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

export interface TrustRun {
  home: string;
  secret: string;
  execute: Execute;
  benign: BenignCall;
  corpus: 'trust' | 'edges';
}

export async function runTrustAttack(attack: TrustAttack, run: TrustRun): Promise<AttackRow> {
  await using stage = openTrustStage(run.home, attack.name);
  const outcome = await attack.attempt(stage);
  const harm = [...successIn(outcome, run.secret), ...stage.harm()];
  const control = await controlOf(attack, stage);
  const { name, description } = attack;
  const facts = { corpus: run.corpus, name, description, control, outcomes: [outcome], harm } as const;
  const { proof = 'answer' } = attack;
  const didNotRun = attack.didNotRun?.(outcome);
  return finishRow({ ...facts, proof, didNotRun, expected: attack }, run.execute, run.benign);
}

async function controlOf({ control }: TrustAttack, stage: TrustStage): Promise<Finding['control']> {
  if (typeof control !== 'function') return control;
  const evidence = await control(stage);
  return { works: evidence !== undefined, evidence: evidence ?? 'a careless loader would not fall for it' };
}
