/**
 * Runs the test cases of one skill in order, each in a fresh cell.
 *
 * @module
 */
import { join } from 'node:path';
import { SkillError } from '../errors.ts';
import type { Skill } from '../load/skill.ts';
import type { Outcome } from '../outcome.ts';
import type { ExecuteOptions } from '../runtime-options.ts';
import type { Runtime } from '../runtime.ts';
import { answerOf, misfit } from './answers.ts';
import { CASES_FILE, readCases } from './cases.ts';
import { fillEnv, nameOf } from './try-mode.ts';
import { Workspaces } from './workspaces.ts';

/** The result of one test case. */
export interface CaseRun {
  name: string;
  /** How the answer differs from what the case expects; undefined if it matches. */
  misfit: string | undefined;
  outcome: Outcome;
}

/** Options of `runCases`. */
export interface CasesOptions {
  runtime: Runtime;
  /** The environment of the runtime; each case replaces its content. */
  env: Record<string, string>;
  options?: Omit<ExecuteOptions, 'workspace' | 'reject'>;
}

/** Runs the test cases of a skill in order. Throws `usage` if it has none. */
export async function* runCases(
  skill: Skill,
  { runtime, env, options = {} }: CasesOptions,
): AsyncGenerator<CaseRun> {
  const cases = readCases(join(skill.bundle.stagedDir, CASES_FILE));
  if (!cases?.length) throw withoutCases(skill);
  using workspaces = new Workspaces();
  for (const [at, one] of cases.entries()) {
    const workspace =
      one.workspace === undefined ? {} : { workspace: workspaces.copy(skill.bundle, one.workspace) };
    fillEnv(env, skill, one.env);
    const outcome = await runtime.execute(skill, one.params, { ...options, ...workspace, reject: false });
    yield { name: nameOf(one, at), misfit: misfit(answerOf(outcome), one), outcome };
  }
}

function withoutCases({ bundle }: Skill): SkillError {
  return new SkillError('usage', `The skill "${bundle.manifest.name}" has no test cases`, {
    fix: `Write ${CASES_FILE} next to its manifest, such as [{ "params": {}, "result": {} }]. docs/authors.md describes all fields.`,
  });
}
