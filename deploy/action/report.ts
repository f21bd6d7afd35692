/**
 * What the action found, as plain data: every output is made from it.
 *
 * @module
 */

export type Level = 'error' | 'warning' | 'note';

/** The kinds of findings. Ids are part of the SARIF output, so that they must not change. */
export const RULES = {
  'manifest-invalid': 'The manifest is invalid',
  'code-drift': 'The code uses what the manifest does not declare',
  'lock-missing': 'The skill has no skill.lock',
  'lock-stale': 'The files are not those that skill.lock describes',
  'case-failed': 'A test case of the skill fails',
  'not-loaded': 'The skill cannot be loaded',
  'skill-warning': 'The skill loads with a warning',
  'capability-added': 'The skill requests more than before',
} as const;

export type RuleId = keyof typeof RULES;

export interface Finding {
  rule: RuleId;
  level: Level;
  message: string;
  /** Relative to the repository. */
  file: string;
  /** 1-based. */
  line?: number | undefined;
}

export interface SkillReport {
  /** Folder of the skill, relative to the repository. */
  dir: string;
  change: 'new' | 'removed' | 'changed' | 'unchanged' | 'not compared';
  lock: 'current' | 'missing' | 'stale' | 'unknown';
  /** Absent: there are none, or they were not run. */
  cases?: { passed: number; total: number } | undefined;
  /** The difference of the capability sets; absent: one of them is not known. */
  capabilities?: { added: string[]; removed: string[] } | undefined;
  /** What is new, in sentences. */
  sentences: string[];
  findings: Finding[];
}

export function hasErrors(reports: readonly SkillReport[]): boolean {
  return reports.some(({ findings }) => findings.some(({ level }) => level === 'error'));
}
