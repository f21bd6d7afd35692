/**
 * Judges text that a second shell will read, such as the text after `bash -c`.
 *
 * @module
 */
import { Findings, type Verdict } from './findings.ts';
import { NotUnderstood } from './shell/syntax.ts';
import type { Surroundings } from './surroundings.ts';

export interface CodePlace {
  surroundings: Surroundings;
  findings: Findings;
  editable: boolean;
  /** Whether the standard input comes from the command line, not from the agent. */
  isFed: boolean;
  depth: number;
}

export type CodeJudge = (text: string, place: CodePlace) => void;

const MAX_DEPTH = 8;

/** The outer command learns what the code mentions and runs; its edits are returned as the changed text. */
export function judgeShellCode(
  code: string,
  { judgeText }: { judgeText: CodeJudge },
  { surroundings, depth, isFed, outer }: Omit<CodePlace, 'findings' | 'editable'> & { outer?: Findings },
): Verdict {
  const findings = new Findings();
  const place = { surroundings: surroundings.copy(), findings, editable: true, isFed, depth: depth + 1 };
  try {
    if (depth > MAX_DEPTH) throw new NotUnderstood('it is nested too deeply');
    judgeText(code, place);
  } catch (error) {
    if (!(error instanceof NotUnderstood)) throw error;
    outer?.openRuns.push(`it contains a command that cannot be read (${error.message})`);
    const isNear = surroundings.mentionIn(code) !== 'none' || surroundings.skillOf('.') !== undefined;
    if (isNear) return { kind: 'deny', reason: unreadable(error.message) };
  }
  outer?.add(findings);
  return findings.verdict(code);
}

export function unreadable(why: string): string {
  return `The command mentions a skill, and Skillcell cannot read it safely: ${why}. Run the script with a plain command such as: python PATH/scripts/NAME.py ARGUMENTS`;
}
