/**
 * What is told about one attack, and how it is found out whether it was stopped.
 *
 * @module
 */
import type { Outcome } from '../../src/outcome.ts';
import type { ControlResult } from './control.ts';
import type { Attack } from './expectations.ts';
import { codeOf, evidenceOf, unexpectedIn } from './outcome-view.ts';

export interface ExecuteOptions {
  timeout?: number;
  workspace?: string;
  execution?: 'wasm';
}

/** Calls a bundle through the runtime under test and never rejects for a failed call. */
export type Execute = (bundleDir: string, params: unknown, options: ExecuteOptions) => Promise<Outcome>;

export interface AttackRow {
  name: string;
  description: string;
  /** `n/a`: there is nothing to show, and `controlEvidence` says why. */
  control: 'works' | 'inconclusive' | 'n/a';
  controlEvidence: string;
  code: string;
  /** True when nothing came of the attack and the next call works. */
  stopped: boolean;
  /** Set when the attack was stopped, but with another answer than it must get. */
  unexpected?: string;
  evidence: string;
}

/** A harmless call and what it answers. */
export interface BenignCall {
  dir: string;
  params: unknown;
  answer: string;
  /** The mode, if the first one of its manifest is not meant. */
  execution?: 'wasm';
}

export interface Finding {
  name: string;
  description: string;
  control: ControlResult | { none: string };
  outcome: Outcome;
  harm: string[];
  expected: Pick<Attack, 'codes' | 'limits'> & { namesByte?: boolean };
}

export async function finishRow(finding: Finding, execute: Execute, benign: BenignCall): Promise<AttackRow> {
  const { outcome, expected } = finding;
  const harm = [...finding.harm, ...(await brokenNextCall(execute, benign))];
  const unexpected = unexpectedIn(outcome, expected) ?? missingByte(outcome, expected.namesByte === true);
  return {
    name: finding.name,
    description: finding.description,
    ...describeControl(finding.control),
    code: codeOf(outcome),
    stopped: harm.length === 0,
    ...(unexpected === undefined ? {} : { unexpected }),
    evidence: harm.length > 0 ? harm.join('; ') : evidenceOf(outcome),
  };
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
  const outcome = await execute(dir, params, { timeout: 20_000, ...mode });
  const isRight = outcome.ok && JSON.stringify(outcome.result) === answer;
  return isRight ? [] : [`the next call answered ${codeOf(outcome)}: ${evidenceOf(outcome)}`];
}
