/**
 * What `npm run agent-skills -- --save` keeps in `bench/results/`. Nothing of the checkouts is in it but names and figures.
 *
 * @module
 */
import type { MachineFacts } from '../../bench/runner/machine.ts';
import type { AgentSkillRow } from './examine.ts';
import type { AskedScript } from './ask-scripts.ts';
import type { TaskRow } from './tasks/run-task.ts';
import type { InjectReport } from './inject/run-inject.ts';

export interface RepositoryReport {
  name: string;
  commit: string;
  folders: number;
  loads: number;
  /** Folders that break no rule of the specification, and how many of these load. */
  following: number;
  followingLoads: number;
  withScripts: number;
  /** How many folders break each rule. */
  rules: Record<string, number>;
  asked: AskedScript[];
  /** Installed packages by skill, or why there are none. */
  packages: Record<string, string[]>;
  problems: Record<string, string>;
}

export interface AgentSkillsReport {
  machine: MachineFacts;
  repositories: RepositoryReport[];
  tasks: (TaskRow & { packages: string[] })[];
  inject?: InjectReport;
}

/** `DIR=owner/name@commit`; a folder says neither by itself. */
export function readCheckout(argument: string): { dir: string; name: string; commit: string } {
  const [, dir = argument, name = '', commit = ''] =
    /^([^=]+)=([\w./-]+)@([0-9a-f]{7,40})$/.exec(argument) ?? [];
  return { dir, name: name || (dir.replace(/\/+$/, '').split('/').at(-1) ?? dir), commit };
}

export function countLoads(
  rows: readonly AgentSkillRow[],
): Pick<RepositoryReport, 'folders' | 'loads' | 'following' | 'followingLoads' | 'withScripts' | 'rules'> {
  const count = (test: (row: AgentSkillRow) => boolean): number => rows.filter(test).length;
  const rules = rows.flatMap((row) => row.rules);
  return {
    folders: rows.length,
    loads: count(({ loads }) => loads),
    following: count((row) => row.rules.length === 0),
    followingLoads: count((row) => row.loads && row.rules.length === 0),
    withScripts: count(({ kind }) => kind === 'script'),
    rules: Object.fromEntries(
      [...new Set(rules)].sort().map((rule) => [rule, rules.filter((one) => one === rule).length]),
    ),
  };
}
