/**
 * The victim at a command line, without a terminal.
 *
 * @module
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type ErrorCode, EXIT_CODES, type Outcome, packageRoot, SkillError } from '../../src/for-attacks.ts';
import { asOutcome, type TrustStage } from './stage.ts';

export interface Command {
  args: string[];
  policy: string;
  /** The content of stdin. */
  typed?: string;
  env?: Record<string, string>;
}

/** Runs a command on the attacker's skill; its error message is the outcome. */
export async function runCommand(stage: TrustStage, command: Command): Promise<Outcome> {
  const policy = join(stage.dir, 'policy.yaml');
  writeFileSync(policy, command.policy);
  const args = [join(packageRoot(), 'bin', 'skillcell.js'), ...command.args, stage.stranger];
  if (command.args[0] === 'run') args.push('--policy', policy, '--params', '{}');
  const child = spawn(process.execPath, args, {
    cwd: stage.project,
    env: { PATH: process.env['PATH'], SKILLCELL_HOME: stage.home, NO_COLOR: '1', ...command.env },
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  child.stdin.on('error', () => undefined).end(command.typed ?? '');
  const [said, [exit]] = await Promise.all([text(child.stderr), once(child, 'close')]);
  const code = /error\[(\w+)\]/.exec(said)?.[1];
  return asOutcome(() => {
    if (!isCode(code) || EXIT_CODES[code] !== exit) return { succeeded: true, evidence: said.slice(-200) };
    throw new SkillError(code, said.slice(0, 300).replaceAll('\n', ' '), { fix: '' });
  });
}

function isCode(text: string | undefined): text is ErrorCode {
  return text !== undefined && Object.hasOwn(EXIT_CODES, text);
}
