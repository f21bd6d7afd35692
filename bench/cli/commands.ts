/**
 * The commands of the bench: those of the packed and installed package, and programs of others that start something small.
 *
 * @module
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { PEERS } from '../peer-process.ts';

export const VERSION = 'skillcell --version';
export const RUN = 'skillcell run, subprocess';

export interface TimedCommand {
  name: string;
  argv: readonly [program: string, ...args: string[]];
  input?: string;
  /** Takes part only in every nth round. */
  every?: number;
}

/** Small programs that print one word. */
const IN_JAVASCRIPT = 'console.log("ok")';
const IN_PYTHON = 'print("ok")';
const TEXT = JSON.stringify({ raw_text: 'Could you please tell me the time?' });
const HOOK_EVENT = {
  hook_event_name: 'PreToolUse',
  tool_name: 'Bash',
  tool_input: { command: 'ls' },
  cwd: '/',
};

/** `command`: the installed `skillcell.js`. `agentSkill`: a folder with `scripts/hello.py`. */
export function ownCommands(command: string, agentSkill: string): TimedCommand[] {
  const direct = (name: string, ...args: string[]): TimedCommand => ({
    name,
    argv: [process.execPath, command, ...args],
  });
  const viaNpx = (name: string, ...args: string[]): TimedCommand => ({
    name,
    argv: ['npx', 'skillcell', ...args],
    every: 4,
  });
  const rewrite = ['run', 'optimization/prompt_rewriter', '--params', TEXT];
  const count = ['--params', '{"text":"To be"}'];
  return [
    direct(VERSION, '--version'),
    direct('skillcell --help', '--help'),
    direct(RUN, ...rewrite),
    direct('skillcell run, wasm, TypeScript', 'run', 'text/word_stats', ...count),
    direct('skillcell run, wasm, Rust', 'run', 'text/word_stats_rust', ...count),
    direct('skillcell exec', 'exec', agentSkill, '--', 'python', 'scripts/hello.py'),
    direct('skillcell validate', 'validate', 'bundled:optimization/prompt_rewriter'),
    { ...direct('skillcell hook', 'hook'), input: JSON.stringify(HOOK_EVENT) },
    viaNpx('npx skillcell --version', '--version'),
    viaNpx('npx skillcell run, subprocess', ...rewrite),
  ];
}

/** Without any sandbox, and with those of others, as far as they are installed. */
export function otherCommands(): TimedCommand[] {
  const srt = join(PEERS, 'node_modules/.bin/srt');
  const deno = (process.env['PATH'] ?? '')
    .split(':')
    .map((folder) => join(folder, 'deno'))
    .find(existsSync);
  return [
    { name: 'node -e', argv: [process.execPath, '-e', IN_JAVASCRIPT] },
    { name: 'python3 -c', argv: ['/usr/bin/python3', '-c', IN_PYTHON] },
    ...(deno === undefined ? [] : [{ name: 'deno eval', argv: [deno, 'eval', IN_JAVASCRIPT] as const }]),
    ...(existsSync(srt)
      ? [
          {
            name: 'srt python3',
            argv: [process.execPath, srt, `/usr/bin/python3 -c '${IN_PYTHON}'`] as const,
          },
        ]
      : []),
  ];
}

/** What was looked for and is not installed. */
export function missingPeers(present: readonly TimedCommand[]): string[] {
  const names = new Set(present.map(({ name }) => name));
  return ['deno eval', 'srt python3'].filter((name) => !names.has(name));
}
