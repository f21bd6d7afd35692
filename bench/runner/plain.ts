/**
 * A job without any wall: starts Python, which reads the params from stdin and prints the result.
 *
 * @module
 */
import { spawn } from 'node:child_process';
import { cpSync } from 'node:fs';
import { basename, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { packageRoot } from '../../src/inside.ts';
import type { Job } from './jobs.ts';
import type { Timing, Variant } from './rounds.ts';

const PYTHON = '/usr/bin/python3';
/** Name of the row. */
export const PLAIN = 'plain python3';

/** A program and what it reads from stdin. */
export interface Command {
  argv: [program: string, ...args: string[]];
  input: string;
}

/**
 * The job as a command. It works on a copy in `folder`, where Python may store its bytecode: the first run
 * compiles, the others are as fast as plain Python can be.
 */
export function plainCommand(job: Job, folder: string): Command {
  const copy = join(folder, basename(job.dir));
  cpSync(job.dir, copy, { recursive: true });
  const script = join(packageRoot(), 'bench', 'plain.py');
  return { argv: [PYTHON, script, copy], input: JSON.stringify(job.params) };
}

export function plainVariants(command: Command): Variant[] {
  const [program, ...args] = command.argv;
  const lean: Command = { ...command, argv: [program, '-I', '-S', ...args] };
  return [
    { name: PLAIN, run: () => runCommand(command) },
    // Cells also omit site-packages, so this row shows what that alone saves.
    { name: 'plain python3 -I -S', run: () => runCommand(lean) },
  ];
}

export async function runCommand({ argv: [program, ...args], input }: Command): Promise<Timing> {
  const began = performance.now();
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(input);
  const result: unknown = JSON.parse(await text(child.stdout));
  return { ms: performance.now() - began, result };
}
