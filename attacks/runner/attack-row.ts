/**
 * The result of one attack, and how to determine whether it was stopped.
 *
 * @module
 */
import type { Outcome } from '../../src/for-attacks.ts';
import type { Expected, NoControl } from './attack.ts';
import type { ControlResult } from './control.ts';
import { codeOf, evidenceOf, unexpectedIn } from './outcome-view.ts';
import { PATIENT_MS } from './patience.ts';
import { missingProof, type ProofKind } from './proof.ts';

export interface ExecuteOptions {
  timeout?: number;
  workspace?: string;
  execution?: 'wasm';
}

/** Calls a bundle through the runtime under test; never rejects because of a failed call. */
export type Execute = (bundleDir: string, params: unknown, options: ExecuteOptions) => Promise<Outcome>;

/** The corpus that a row belongs to. */
export const CORPORA = [
  'subprocess',
  'container',
  'wasm',
  'python-wasm',
  'js-wasm',
  'network',
  'trust',
  'edges',
] as const;
export type CorpusName = (typeof CORPORA)[number];

export interface AttackRow {
  corpus: CorpusName;
  name: string;
  description: string;
  /** `n/a`: there is nothing to show; `controlEvidence` says why. */
  control: 'works' | 'inconclusive' | 'n/a';
  controlEvidence: string;
  code: string;
  /** False if nothing shows that the hostile code was reached; then nothing was stopped either. */
  ran: boolean;
  /** True if the attack ran without effect, and the next call works. */
  stopped: boolean;
  /** Set if the attack was stopped, but with an answer that it must not get. */
  unexpected?: string;
  evidence: string;
}

/** A harmless call and its result. */
export interface BenignCall {
  dir: string;
  params: unknown;
  answer: string;
  /** The mode, if not the first one of its manifest. */
  execution?: 'wasm';
}

export interface Finding {
  corpus: CorpusName;
  name: string;
  description: string;
  control: ControlResult | NoControl;
  /** Outcomes of every call of the attack; the last one is judged. */
  outcomes: readonly Outcome[];
  /** How each call shows that it ran. */
  proof: ProofKind;
  /** Why it is known that the attack did not run. */
  didNotRun?: string | undefined;
  harm: string[];
  expected: Expected;
}

export async function finishRow(finding: Finding, execute: Execute, benign: BenignCall): Promise<AttackRow> {
  const { outcomes, expected } = finding;
  const outcome = outcomes.at(-1)!;
  const missing = finding.didNotRun ?? firstMissing(finding);
  const harm = [...finding.harm, ...(await brokenNextCall(execute, benign))];
  const unexpected = unexpectedIn(outcome, expected) ?? missingByte(outcome, expected.namesByte === true);
  return {
    corpus: finding.corpus,
    name: finding.name,
    description: finding.description,
    ...describeControl(finding.control),
    code: codeOf(outcome),
    ran: missing === undefined,
    stopped: missing === undefined && harm.length === 0,
    ...(unexpected === undefined ? {} : { unexpected }),
    evidence: harm.length > 0 ? harm.join('; ') : (missing ?? evidenceOf(outcome)),
  };
}

function firstMissing({ outcomes, proof, expected }: Finding): string | undefined {
  return outcomes
    .map((outcome) => missingProof(outcome, proof, expected))
    .find((missing) => missing !== undefined);
}

function describeControl(control: Finding['control']): Pick<AttackRow, 'control' | 'controlEvidence'> {
  if ('none' in control) return { control: 'n/a', controlEvidence: control.none };
  return { control: control.works ? 'works' : 'inconclusive', controlEvidence: control.evidence };
}

function missingByte(outcome: Outcome, isDue: boolean): string | undefined {
  const isMissing = isDue && !outcome.ok && typeof outcome.error.detail['offset'] !== 'number';
  return isMissing ? 'the answer does not name the byte that was refused' : undefined;
}

async function brokenNextCall(execute: Execute, benign: BenignCall): Promise<string[]> {
  const { dir, params, answer, ...mode } = benign;
  const outcome = await execute(dir, params, { timeout: PATIENT_MS, ...mode });
  const isRight = outcome.ok && JSON.stringify(outcome.result) === answer;
  return isRight ? [] : [`the next call answered ${codeOf(outcome)}: ${evidenceOf(outcome)}`];
}
