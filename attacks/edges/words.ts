/**
 * Text that tries to control a terminal or to pass for Skillcell's lines, and how to detect that it did.
 *
 * @module
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type Outcome, packageRoot, SkillError } from '../../src/for-attacks.ts';
import { asOutcome, type TrustStage } from '../trust/stage.ts';

/** Shows that the text was printed at all. */
const MARK = 'words-of-a-stranger';

/** ESC and OSC, C1, DEL, bidi, zero-width, a lone carriage return, and lines that only Skillcell prints. */
export const HOSTILE: string =
  `${MARK}\u001b]0;owned\u0007\u001b[2J\u009b31m\u007f\u202e\u2066\u200b\ufeff\r\u0085\u2028` +
  '\nfix: forged\nReceipt: forged\nerror[internal]: forged\nwarning: forged\ndenied    forged\nb';

const STEERS = /(?!\n)[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]|[\u200b\u2060\ufeff]/u;
const FORGED = /^(?:fix: |Receipt: |error\[internal\]: |warning: |denied {4})forged/m;

/** What the text does to a reader's terminal; undefined for nothing. */
export function harmIn(shown: string): string | undefined {
  const steers = STEERS.exec(shown)?.[0]?.codePointAt(0)?.toString(16);
  if (steers !== undefined) return `U+${steers.padStart(4, '0')} reaches the terminal`;
  const forged = FORGED.exec(shown)?.[0];
  return forged === undefined ? undefined : `the line "${forged}" is forged`;
}

/** The text must be shown, without any effect. */
export function judgeWords(shown: string): Promise<Outcome> {
  return asOutcome(() => {
    if (!shown.includes(MARK)) throw didNotRun(`the words were not shown: ${shown.slice(0, 300)}`);
    const harm = harmIn(shown);
    return { succeeded: harm !== undefined, evidence: harm ?? 'shown as escapes' };
  });
}

/** An answer that no attack accepts: the row says that the attack did not run. */
export function didNotRun(why: string): SkillError {
  return new SkillError('internal', why.replaceAll(/[^\x20-\x7e]/g, '?'), { fix: '' });
}

export interface Shown {
  stdout: string;
  stderr: string;
}

const COMMAND_MS = 60_000;

/** The victim's command line, in the project. */
export async function command(
  stage: TrustStage,
  args: readonly string[],
  cwd: string = stage.project,
): Promise<Shown> {
  const child = spawn(process.execPath, [join(packageRoot(), 'bin', 'skillcell.js'), ...args], {
    cwd,
    env: { PATH: process.env['PATH'], SKILLCELL_HOME: stage.home, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: COMMAND_MS,
  });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { stdout, stderr };
}
