/**
 * `skillcell test`
 *
 * @module
 */
import { printableLine, runCases, SkillError, type CaseRun } from '../../inside.ts';
import { interruption } from '../interruption.ts';
import { executeOptions, openRuntime, type PlanFlags } from '../open-runtime.ts';
import { printLine, printLogs, printResult } from '../output.ts';

export async function test(ref: string, flags: PlanFlags & { json?: boolean }): Promise<number> {
  const env: Record<string, string> = {};
  await using runtime = openRuntime({ ...flags, invented: env });
  const skill = await runtime.load(ref);
  const signal = interruption();
  const options = { ...executeOptions(flags), caller: 'test', signal };
  const runs: CaseRun[] = [];
  for await (const run of runCases(skill, { runtime, env, options })) {
    if (signal.aborted) throw cancelled();
    runs.push(run);
    if (!flags.json) printRun(run);
  }
  const failed = runs.filter(({ misfit }) => misfit !== undefined).length;
  if (flags.json) printResult(runs.map(asJson));
  else printLine(`${runs.length - failed} of ${runs.length} cases of ${skill.bundle.manifest.name} passed`);
  return failed === 0 ? 0 : 1;
}

/** A case that was interrupted says nothing about the skill. */
function cancelled(): SkillError {
  return new SkillError('cancelled', 'The test was cancelled', { fix: 'Run it again.' });
}

function printRun({ name, misfit, outcome }: CaseRun): void {
  const { execution, usage } = outcome;
  const where = execution ? `${execution.mode}, ${usage.wall_ms.toFixed(1)} ms` : 'nothing ran';
  const label =
    misfit === undefined
      ? ({ style: 'green', text: 'pass' } as const)
      : ({ style: 'red', text: 'FAIL' } as const);
  printLine(`${printableLine(name)} (${where})`, { label });
  if (misfit !== undefined) printLine(`     ${printableLine(misfit)}`);
  if (misfit !== undefined) printLogs(outcome.logs);
}

function asJson({ name, misfit, outcome }: CaseRun): object {
  return { name, fits: misfit === undefined, ...(misfit === undefined ? {} : { misfit }), outcome };
}
