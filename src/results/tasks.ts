/**
 * The work of worker threads on a large result: read it, check it against `outputs`, remove secrets, digest it, and write
 * it as text. One task does all of it, so that the value exists in one thread and only its text leaves.
 *
 * @module
 */
import { digestJson } from '../audit/canonical-json.ts';
import { scrubberFor } from '../broker/secrets/scrub.ts';
import type { UnreadForm } from '../cell/contract.ts';
import { readReply, type ReadReply } from '../cell/protocol/read-reply.ts';
import type { JsonSchema } from '../manifest/manifest.ts';
import { printableJson } from '../manifest/printable.ts';
import { compileOutputs } from '../manifest/json-schema.ts';
import { besideThis, type Task, type Tasks } from '../offload/task.ts';
import type { FileChange } from './changed-files.ts';
import { commandResult } from './command-result.ts';

export interface UnreadResult {
  form: UnreadForm;
  bytes: Uint8Array;
  outputs: Record<string, JsonSchema>;
  /** Values by name; they are removed from the result. */
  secrets: ReadonlyMap<string, string>;
}

/** A result as text, or the reply that the skill gave instead. */
export type SettledResult =
  | { kind: 'result'; text: Uint8Array; digest: string; problems: string[]; warnings: string[] }
  | { kind: 'other'; reply: Exclude<ReadReply, { kind: 'result' }> };

export const SETTLE_RESULT: Task<UnreadResult, SettledResult> = {
  module: besideThis(import.meta.url, './tasks'),
  name: 'settleResult',
};

function settleResult({ form, bytes, outputs, secrets }: UnreadResult): SettledResult {
  const reply = readReply(form, bytes);
  if (reply.kind !== 'result') return { kind: 'other', reply };
  const problems = compileOutputs(outputs, { file: 'manifest.yaml', at: 'outputs' }).check(reply.value);
  const value = scrubberFor(secrets)(reply.value) ?? null;
  // Clients get these bytes unchanged, and some print them on a terminal.
  const text = new TextEncoder().encode(printableJson(value));
  return { kind: 'result', text, digest: digestJson(value), problems, warnings: reply.warnings };
}

export interface UnreadOutput {
  exitCode: number;
  stdout: Uint8Array;
  stderr: Uint8Array;
  files: FileChange[];
  secrets: ReadonlyMap<string, string>;
}

export type SettledOutput = Pick<Extract<SettledResult, { kind: 'result' }>, 'text' | 'digest' | 'warnings'>;

/** Like `settleResult`, for the output of a command. */
export const SETTLE_OUTPUT: Task<UnreadOutput, SettledOutput> = {
  module: besideThis(import.meta.url, './tasks'),
  name: 'settleOutput',
};

function settleOutput({ files, secrets, ...ended }: UnreadOutput): SettledOutput {
  const { result, warnings } = commandResult(ended, files);
  const value = scrubberFor(secrets)(result);
  return { text: new TextEncoder().encode(printableJson(value)), digest: digestJson(value), warnings };
}

export const tasks: Tasks = { settleResult, settleOutput };
