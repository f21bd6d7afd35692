/**
 * `skillcell record`
 *
 * @module
 */
import { type Allowed, type Recording, printableLine, saveRecording } from '../../inside.ts';
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
  write?: boolean;
  json?: boolean;
}

/** The diff of the manifests goes to stdout, everything else to stderr. */
export async function record(ref: string, flags: RecordFlags): Promise<number> {
  const params = await readParams(flags);
  await using runtime = openRuntime(flags);
  const options = { ...executeOptions(flags), allow: allowedBy(flags), signal: interruption() };
  const recording = await runtime.record(ref, params, options);
  if (flags.write) saveRecording(recording);
  if (flags.json) printResult(recording);
  else printRecording(recording, flags);
  return 0;
}

function allowedBy(flags: RecordFlags): Allowed {
  return {
    network: flags.allowNetwork,
    read: flags.allowRead,
    write: flags.allowWrite,
    env: flags.allowEnv,
    secrets: flags.allowSecret,
    processes: flags.allowProcesses,
  };
}

function printRecording(recording: Recording, { write }: RecordFlags): void {
  const { outcome, observed, diff, unused, remarks } = recording;
  printLogs(outcome.logs);
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
  printNote(summary(recording, write === true), { style: 'dim' });
}

function summary({ diff, file, outcome }: Recording, isWritten: boolean): string {
  if (diff === '' && !outcome.ok) return 'The manifest declares what this call used before it failed.';
  if (diff === '') return 'The manifest declares exactly what this call needs.';
  return isWritten ? `Wrote ${file}.` : `Nothing was written. Add --write to update ${file}.`;
}
