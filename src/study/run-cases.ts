/**
 * The cases of one skill, one after the other, each in a fresh cell: what its author runs before anybody else does.
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

export interface CaseRun {
  name: string;
  /** How it differs from what the case says; undefined when it fits. */
  misfit: string | undefined;
  outcome: Outcome;
}

export interface CasesOptions {
  runtime: Runtime;
  /** What that runtime takes variables from; the case in hand fills it. */
  env: Record<string, string>;
  options?: Omit<ExecuteOptions, 'workspace' | 'reject'>;
}

/** Throws `usage` when the skill has no cases. */
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
  return new SkillError('usage', `"${bundle.manifest.name}" has no cases to test`, {
    fix: `Write ${CASES_FILE} beside its manifest: [{ "params": {}, "result": {} }]. docs/authors.md says what a case can hold.`,
  });
}
