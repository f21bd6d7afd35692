/**
 * The result of a command: its exit code, what it printed, and the files that it changed.
 *
 * @module
 */
import type { Success } from '../outcome.ts';
import type { FileChange } from './changed-files.ts';

/** The result of a call of a skill of kind `script`. */
export interface CommandResult {
  exit_code: number;
  stdout: string;
  stderr: string;
  /** Files of writable granted folders that the command changed. */
  files: FileChange[];
}

/** The outcome of a command that ended by itself. */
export interface CommandSuccess extends Success {
  result: CommandResult;
}

/** A result is JSON, so bytes that are not UTF-8 become U+FFFD, and a warning says so. */
export function commandResult(
  { exitCode, stdout, stderr }: { exitCode: number; stdout: Uint8Array; stderr: Uint8Array },
  files: FileChange[],
): { result: CommandResult; warnings: string[] } {
  const [out, err] = [decode('stdout', stdout), decode('stderr', stderr)];
  return {
    result: { exit_code: exitCode, stdout: out.text, stderr: err.text, files },
    warnings: [...out.warnings, ...err.warnings],
  };
}

const REPLACED = 'is not UTF-8: its other bytes are U+FFFD in the result';

/** Whether a warning is only about the result, not about the bytes that were passed on while the command ran. */
export function replacesBytes(warning: string): boolean {
  return warning === `stdout ${REPLACED}` || warning === `stderr ${REPLACED}`;
}

function decode(stream: string, bytes: Uint8Array): { text: string; warnings: string[] } {
  const options = { ignoreBOM: true };
  try {
    return { text: new TextDecoder('utf-8', { ...options, fatal: true }).decode(bytes), warnings: [] };
  } catch {
    const text = new TextDecoder('utf-8', options).decode(bytes);
    return { text, warnings: [`${stream} ${REPLACED}`] };
  }
}
