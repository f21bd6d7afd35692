/**
 * Runs the real command with a separate home.
 *
 * @module
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openFolder, removeFolder } from '../write-skill.ts';

export const ROOT: string = fileURLToPath(new URL('../..', import.meta.url));
export const PROMPT_REWRITER = 'skills/optimization/prompt_rewriter';

export interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

export interface CommandOptions {
  /** Text for stdin; without it, stdin is closed. */
  input?: string | Buffer;
  env?: Record<string, string>;
  cwd?: string;
}

export interface CommandLine {
  folder: string;
  run: (args: string[], options?: CommandOptions) => Promise<Ended>;
  close: () => void;
}

export function openCommandLine(): CommandLine {
  const folder = openFolder();
  const env = { ...process.env, SKILLCELL_HOME: join(folder, 'home') };
  const run = async (args: string[], options: CommandOptions = {}): Promise<Ended> => {
    const child = spawn(process.execPath, [join(ROOT, 'bin/skillcell.js'), ...args], {
      cwd: options.cwd ?? ROOT,
      env: { ...env, NO_COLOR: '1', ...options.env },
      stdio: [options.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    });
    const ended: Ended = { code: -1, stdout: '', stderr: '' };
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (ended.stdout += text));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (ended.stderr += text));
    // A command that rejects its input does not read all of it.
    child.stdin?.on('error', () => undefined).end(options.input);
    [ended.code] = (await once(child, 'close')) as [number];
    return ended;
  };
  return { folder, run, close: () => removeFolder(folder) };
}

/** Pids of cells that mount something from this folder, whatever their current parent is. */
export function cellsOf(folder: string): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => mountsOf(pid).includes(`/${basename(folder)}/`)).map(Number);
}

function mountsOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/mountinfo`, 'utf8');
  } catch {
    return '';
  }
}
