/**
 * What a script did when it was asked for its usage. Judges by the outcome of the command only.
 *
 * @module
 */
import type { Outcome } from '../../src/inside.ts';
import { withoutHosts } from './hosts.ts';

/**
 * `answered`: exit code 0, or its usage on stdout or stderr. `argument`: it ran and took the option for its argument, so
 * it has no usage. `needs`: a package or a program is missing. `refused`: this mode cannot run it here.
 */
export const ANSWERS = ['answered', 'argument', 'needs', 'denied', 'refused', 'failed'] as const;
export type AnswerKind = (typeof ANSWERS)[number];

export interface Answer {
  kind: AnswerKind;
  /** The missing module or program, the denied act, or the last line of the error; empty if it answered. */
  why: string;
}

const USAGE = /^\s*(?:error: )?(?:usage|options|arguments|example usage)\b/im;
const MISSING_MODULE =
  /(?:ModuleNotFoundError: No module named|Error: Cannot find (?:module|package)) '([^']+)'/;
const MISSING_PROGRAM = [
  /^(?:\S+: )?(?:line \d+: )?([\w.-]+): (?:command )?not found$/m,
  /FileNotFoundError: \[Errno 2\] No such file or directory: '([\w.-]+)'$/m,
  /(?:^|\b)([\w.-]+) (?:is not installed|is required but)/im,
];
const ARGUMENT_ERROR =
  /No such file or directory: '--help'|IndexError: list index out of range|(?:not found|does not exist|not exist|invalid)[^\n]*--help|--help[^\n]*(?:not found|does not exist|invalid|is not)/i;

export function classify(outcome: Outcome): Answer {
  if (!outcome.ok)
    return { kind: isRefusal(outcome.error.code) ? 'refused' : 'failed', why: outcome.error.message };
  const { exit_code: exitCode, stdout, stderr } = commandOf(outcome.result);
  const text = `${stderr}\n${stdout}`;
  if (USAGE.test(text)) return { kind: 'answered', why: '' };
  const module = MISSING_MODULE.exec(text)?.[1];
  if (module !== undefined) return { kind: 'needs', why: module };
  const [denied] = outcome.capabilities.denied;
  if (exitCode === 0) return { kind: 'answered', why: '' };
  if (denied) return { kind: 'denied', why: withoutHosts(denied.asked) };
  const program = MISSING_PROGRAM.map((pattern) => pattern.exec(text)?.[1]).find(
    (name) => name && name !== '--help',
  );
  if (program !== undefined) return { kind: 'needs', why: program };
  if (ARGUMENT_ERROR.test(text)) return { kind: 'argument', why: lastLine(text) };
  return { kind: 'failed', why: lastLine(text) || `exit code ${exitCode}` };
}

/** The result of a command; empty if a skill of another kind answered. */
export function commandOf(result: unknown): { exit_code: number; stdout: string; stderr: string } {
  const { exit_code = -1, stdout = '', stderr = '' } = (result ?? {}) as Partial<Record<string, unknown>>;
  return { exit_code: Number(exit_code), stdout: String(stdout), stderr: String(stderr) };
}

function isRefusal(code: string): boolean {
  return code === 'skill_unavailable' || code === 'unenforceable';
}

function lastLine(text: string): string {
  const lines = text.split('\n').map((line) => line.trim());
  return lines.findLast((line) => /\b\w*(?:Error|Exception)\b/.test(line)) ?? lines.findLast(Boolean) ?? '';
}
