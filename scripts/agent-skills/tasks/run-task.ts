/**
 * Real work with a skill: a row of commands on the same files, each in a fresh cell. Done only if every command ends with
 * 0 and prints what it should.
 *
 * @module
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Mode, Outcome, Runtime } from '../../../src/inside.ts';
import { commandOf } from '../classify.ts';
import { withoutHosts } from '../hosts.ts';

export interface TaskStep {
  command: string[];
  /** Code of the caller for `python -`. */
  stdin?: string;
  /** A part of its stdout. */
  prints?: string;
}

export interface Task {
  /** Folder name of the skill. */
  skill: string;
  title: string;
  steps: readonly TaskStep[];
}

export interface TaskRow {
  skill: string;
  title: string;
  mode: Mode;
  done: boolean;
  /** Commands that did their part. */
  steps: number;
  of: number;
  /** Why it was not done. */
  why: string;
  denials: string[];
}

const LIMIT_MS = 120_000;
const MAX_WHY = 300;

/** Gives the commands an empty folder to write in, below `temp`, and nothing else. */
export async function runTask(
  runtime: Runtime,
  task: Task,
  { dir, temp, mode }: { dir: string; temp: string; mode: Mode },
): Promise<TaskRow> {
  const workspace = mkdtempSync(join(temp, 'task-'));
  chmodSync(workspace, 0o777);
  const denials = new Set<string>();
  const row = { skill: task.skill, title: task.title, mode, of: task.steps.length };
  try {
    for (const [index, step] of task.steps.entries()) {
      const outcome = await runtime.exec(dir, step.command, {
        ...{ workspace, execution: mode, reject: false, grants: { write: ['.'] } },
        ...(step.stdin === undefined ? {} : { stdin: step.stdin }),
        signal: AbortSignal.timeout(LIMIT_MS),
      });
      for (const { asked } of outcome.capabilities.denied) denials.add(withoutHosts(asked));
      const why = failureOf(outcome, step);
      if (why !== '') return { ...row, done: false, steps: index, why, denials: [...denials] };
    }
    return { ...row, done: true, steps: task.steps.length, why: '', denials: [...denials] };
  } finally {
    rmSync(workspace, { recursive: true, force: true });
  }
}

function failureOf(outcome: Outcome, { command, prints = '' }: TaskStep): string {
  const what = command.slice(0, 2).join(' ');
  if (!outcome.ok) return `${what}: ${outcome.error.message}`.slice(0, MAX_WHY);
  const { exit_code: exitCode, stdout, stderr } = commandOf(outcome.result);
  if (exitCode !== 0) return `${what}: exit code ${exitCode}: ${`${stdout}${stderr}`.trim().slice(-MAX_WHY)}`;
  return stdout.includes(prints) ? '' : `${what} did not print "${prints}": ${stdout.slice(0, MAX_WHY)}`;
}
