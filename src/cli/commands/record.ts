/**
 * `skillcell record`
 *
 * @module
 */
import {
  type Allowed,
  type CommandResult,
  type Recording,
  type Runtime,
  SkillError,
  printableLine,
  saveRecording,
  shellWord,
} from '../../inside.ts';
import { interruption } from '../interruption.ts';
import { executeOptions, openRuntime, type PlanFlags } from '../open-runtime.ts';
import { printError, printFile, printLogs, printNote, printResult, printWarning } from '../output.ts';
import { readParams, type ParamFlags } from '../params.ts';

export interface RecordFlags extends PlanFlags, ParamFlags {
  allowNetwork?: boolean;
  allowRead?: string[];
  allowWrite?: string[];
  allowEnv?: string[];
  allowSecret?: string[];
  allowProcesses?: number;
  allowProgram?: string[];
  allowSkill?: string[];
  write?: boolean;
  json?: boolean;
}

/** The diff of the manifests goes to stdout, everything else to stderr. */
export async function record(ref: string, flags: RecordFlags, command: string[] = []): Promise<number> {
  await using runtime = openRuntime(flags);
  await assertFits(runtime, ref, command);
  const params = command.length > 0 ? { command } : await readParams(flags);
  const options = { ...executeOptions(flags), allow: allowedBy(flags), signal: interruption() };
  const recording = await runtime.record(ref, params, options);
  if (flags.write) saveRecording(recording);
  if (flags.json) printResult(recording);
  else printRecording(recording, flags);
  return 0;
}

/** A folder with scripts needs a command, any other skill has parameters. */
async function assertFits(runtime: Runtime, ref: string, command: readonly string[]): Promise<void> {
  const { kind } = (await runtime.load(ref, { toleratesDrift: true })).bundle;
  if ((kind === 'script') === command.length > 0) return;
  throw kind === 'script'
    ? new SkillError('usage', `"${ref}" is a folder with scripts, and no command was given`, {
        fix: `Pass the command after "--": skillcell record ${shellWord(ref)} -- python scripts/NAME.py`,
      })
    : new SkillError('usage', `"${ref}" takes parameters, not a command`, {
        fix: `Pass them as JSON: skillcell record ${shellWord(ref)} --params '{}'`,
      });
}

function allowedBy(flags: RecordFlags): Allowed {
  return {
    network: flags.allowNetwork,
    read: flags.allowRead,
    write: flags.allowWrite,
    env: flags.allowEnv,
    secrets: flags.allowSecret,
    processes: flags.allowProcesses,
    programs: flags.allowProgram,
    skills: flags.allowSkill,
  };
}

function printRecording(recording: Recording, { write }: RecordFlags): void {
  const { outcome, observed, diff, unused, remarks, file, overlay } = recording;
  printLogs(outcome.logs);
  if (overlay !== undefined && outcome.ok) printCommand(outcome.result as CommandResult);
  const { denied, used } = outcome.capabilities;
  for (const line of new Set(denied.map(({ asked, declared }) => `denied    ${asked} (${declared})`)))
    printNote(printableLine(line));
  const uses = used.filter(({ capability }) => capability !== 'module');
  for (const line of new Set(uses.map(({ asked }) => `used      ${asked}`))) printNote(printableLine(line));
  if (observed.modules.length > 0) printNote(printableLine(`imported  ${observed.modules.join(', ')}`));
  if (!outcome.ok) printError(outcome.error);
  for (const permission of unused) printNote(printableLine(`unused    ${permission}`));
  for (const remark of remarks) printWarning(remark);
  if (diff !== '') printFile(diff);
  const what = overlay === undefined ? 'manifest declares' : 'overlay permits';
  printNote(summary({ diff, file, what, isOk: outcome.ok, isWritten: write === true }), { style: 'dim' });
  if (overlay === 'project' && write && diff !== '')
    printNote('It permits nothing until you review it: skillcell approve SKILL');
}

function printCommand({ stdout, stderr, exit_code: code }: CommandResult): void {
  printLogs(stdout + stderr);
  if (code !== 0) printWarning(`The command ended with exit code ${code}.`);
}

interface Written {
  diff: string;
  file: string;
  what: string;
  isOk: boolean;
  isWritten: boolean;
}

function summary({ diff, file, what, isOk, isWritten }: Written): string {
  if (diff === '' && !isOk) return `The ${what} what this call used before it failed.`;
  if (diff === '') return `The ${what} exactly what this call needs.`;
  return isWritten ? `Wrote ${file}.` : `Nothing was written. Add --write to update ${file}.`;
}
