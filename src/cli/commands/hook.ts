/**
 * `skillcell hook`: reads the call of a tool that an agent is about to make, and rewrites or denies commands that would run a
 * script of a skill outside the sandbox. An agent waits for it before every command, so it loads almost nothing.
 *
 * @module
 */
import { accessSync, constants, readSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { answerHook, type HookReply } from '../../hook/answer.ts';
import { quoteWord } from '../../hook/findings.ts';
import { packageRoot } from '../../package-root.ts';
import { HOOK_AGENTS, type HookAgent, type HookAnswer } from '../../vocabulary/hook-answers.ts';

/** Agents block the call on this exit code, and show stderr to the model. */
const BLOCK = 2;
const MAX_INPUT = 4 * 1024 * 1024;
const SECONDS = 10;

export interface HookFlags {
  answer?: HookAnswer;
  printConfig?: HookAgent;
}

export function hook(flags: HookFlags): number {
  if (flags.printConfig !== undefined) return printConfig(flags.printConfig, flags.answer);
  const { output, refusal } = replyTo(flags.answer ?? 'ask');
  if (output !== undefined) process.stdout.write(`${output}\n`);
  if (refusal === undefined) return 0;
  process.stderr.write(`${refusal}\n`);
  return BLOCK;
}

/** Every failure blocks: with another exit code, agents would go on. */
function replyTo(answer: HookAnswer): HookReply {
  try {
    const input = readInput();
    if (input === undefined)
      return { refusal: 'Skillcell blocked the call: the input of the hook is too large.' };
    return answerHook(input, { home: homedir(), env: process.env, program: ownProgram(), answer });
  } catch (error) {
    return {
      refusal: `Skillcell blocked the call: ${error instanceof Error ? error.message : 'unknown error'}`,
    };
  }
}

function readInput(): string | undefined {
  const chunks: Buffer[] = [];
  let size = 0;
  for (;;) {
    const chunk = Buffer.alloc(64 * 1024);
    const count = readChunk(chunk);
    if (count === 0) return Buffer.concat(chunks).toString('utf8');
    size += count;
    if (size > MAX_INPUT) return undefined;
    chunks.push(chunk.subarray(0, count));
  }
}

/** A pipe that another program made non-blocking has no data for a moment. */
function readChunk(chunk: Buffer): number {
  for (;;) {
    try {
      return readSync(0, chunk);
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : '';
      if (code === 'EOF') return 0;
      if (code !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}

/** `skillcell` if the shell finds it, else this very program. */
function ownProgram(): string {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder.startsWith('/'));
  return folders.some((folder) => isProgram(join(folder, 'skillcell')))
    ? 'skillcell'
    : quoteWord(join(packageRoot(), 'bin/skillcell.js'));
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The settings of an agent that does not use the plugin. */
function printConfig(agent: HookAgent, chosen: HookAnswer | undefined): number {
  const { place, answer } = HOOK_AGENTS[agent];
  const command = `${ownProgram()} hook --answer ${chosen ?? answer}`;
  const handler = {
    type: 'command',
    command,
    timeout: SECONDS,
    ...(agent === 'claude' ? { onFailure: 'block' } : {}),
  };
  const settings = { hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [handler] }] } };
  process.stdout.write(`${JSON.stringify(settings, undefined, 2)}\n`);
  process.stderr.write(`Add this to ${place}.\n`);
  return 0;
}
