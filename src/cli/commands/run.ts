/**
 * `skillcell run`
 *
 * @module
 */
import { EXIT_CODES, SkillError, type ExecuteOptions, type Outcome, type Runtime } from '../../inside.ts';
import { decisions, explain } from '../explain.ts';
import { hostPathsIn, invisiblePaths } from '../host-paths.ts';
import { interruption } from '../interruption.ts';
import { LiveStatus } from '../live-status.ts';
import { withoutKnownNotices } from '../lock-notice.ts';
import { callOptions, openRuntime, type GrantFlags, type PlanFlags } from '../open-runtime.ts';
import { readParams, type ParamFlags } from '../params.ts';
import { printError, printLogs, printNote, printResult, printWarning } from '../output.ts';

export interface RunFlags extends PlanFlags, GrantFlags, ParamFlags {
  json?: boolean;
  explain?: boolean;
  keepContent?: boolean;
}

export async function run(ref: string, flags: RunFlags): Promise<number> {
  const params = await readParams(flags);
  await using runtime = openRuntime({ ...flags, makesOneCall: true });
  const options = callOptions(flags);
  if (flags.explain) printNote(await explain(runtime, ref, options));
  await warnOfHostPaths(runtime, { ref, params, options });
  const outcome = await callOnTerminal(runtime, { ref, params, options });
  printOutcome(outcome, flags, withoutKnownNotices(outcome.warnings, ref, runtime.home));
  if (flags.explain) printNote(decisions(outcome, runtime.audit.show(outcome.call_id)?.receipt.decision));
  return outcome.ok ? 0 : EXIT_CODES[outcome.error.code];
}

interface CallRequest {
  ref: string;
  params: unknown;
  options: ExecuteOptions;
}

async function warnOfHostPaths(runtime: Runtime, { ref, params, options }: CallRequest): Promise<void> {
  const paths = hostPathsIn(params);
  if (paths.length === 0) return;
  try {
    const { grant, choice } = await runtime.plan(await runtime.load(ref), options);
    if (choice.candidate.wall === 'none') return;
    for (const text of invisiblePaths(paths, grant.filesystem, options.workspace)) printWarning(text);
  } catch (error) {
    // The call itself reports why it cannot run.
    if (!(error instanceof SkillError)) throw error;
  }
}

async function callOnTerminal(runtime: Runtime, { ref, params, options }: CallRequest): Promise<Outcome> {
  using status = new LiveStatus();
  const { onEvent } = status;
  return await runtime.execute(ref, params, { ...options, signal: interruption(), onEvent, reject: false });
}

function printOutcome(outcome: Outcome, flags: RunFlags, warnings: readonly string[]): void {
  if (flags.json) {
    printResult(outcome);
    return;
  }
  printLogs(outcome.logs);
  for (const warning of warnings) printWarning(warning);
  for (const denial of outcome.capabilities.denied)
    printWarning(`denied: ${denial.asked} (${denial.declared})`);
  const { cut } = outcome.capabilities;
  if (cut && cut.denied > 0) printWarning(`denied: ${cut.denied} more acts (not listed)`);
  if (outcome.ok) printResult(outcome.result);
  else printError(outcome.error);
  if (process.stderr.isTTY) printNote(status(outcome), { style: 'dim' });
}

function status({ execution, usage, call_id }: Outcome): string {
  const where = execution ? `${execution.mode} · ${execution.wall} · ${execution.engine}` : 'nothing ran';
  return `${where} · ${usage.wall_ms.toFixed(1)} ms · receipt ${call_id}`;
}
