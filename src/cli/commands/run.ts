/**
 * `skillcell run`
 *
 * @module
 */
import { EXIT_CODES, type Outcome } from '../../index.ts';
import { explain } from '../explain.ts';
import { interruption } from '../interruption.ts';
import { executeOptions, openRuntime, type PlanFlags } from '../open-runtime.ts';
import { readParams, type ParamFlags } from '../params.ts';
import { paint, printError, printLogs, printNote, printResult, printWarning } from '../output.ts';

export interface RunFlags extends PlanFlags, ParamFlags {
  json?: boolean;
  explain?: boolean;
  keepContent?: boolean;
}

export async function run(ref: string, flags: RunFlags): Promise<number> {
  const params = await readParams(flags);
  await using runtime = openRuntime(flags);
  const options = executeOptions(flags);
  if (flags.explain) printNote(await explain(runtime, ref, options));
  const outcome = await runtime.execute(ref, params, { ...options, signal: interruption(), reject: false });
  printOutcome(outcome, flags);
  return outcome.ok ? 0 : EXIT_CODES[outcome.error.code];
}

function printOutcome(outcome: Outcome, flags: RunFlags): void {
  if (flags.json) {
    printResult(outcome);
    return;
  }
  printLogs(outcome.logs);
  for (const warning of outcome.warnings) printWarning(warning);
  for (const denial of outcome.capabilities.denied)
    printWarning(`denied: ${denial.asked} (${denial.declared})`);
  if (outcome.ok) printResult(outcome.result);
  else printError(outcome.error);
  if (process.stderr.isTTY) printNote(status(outcome));
}

function status({ execution, usage, call_id }: Outcome): string {
  const where = execution ? `${execution.mode} · ${execution.wall} · ${execution.engine}` : 'nothing ran';
  return paint('dim', `${where} · ${usage.wall_ms.toFixed(1)} ms · receipt ${call_id}`);
}
