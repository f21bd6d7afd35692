/**
 * `skillcell run`
 *
 * @module
 */
import { createReadStream } from 'node:fs';
import { EXIT_CODES, SkillError, type Outcome } from '../../index.ts';
import { explain } from '../explain.ts';
import { executeOptions, openRuntime, type PlanFlags } from '../open-runtime.ts';
import { paint, printError, printLogs, printNote, printResult, printWarning } from '../output.ts';

const MAX_PARAMS_BYTES = 16 * 1024 * 1024;

export interface RunFlags extends PlanFlags {
  params?: string;
  paramsFile?: string;
  json?: boolean;
  explain?: boolean;
  keepContent?: boolean;
}

export async function run(ref: string, flags: RunFlags): Promise<number> {
  const params = parseParams(await readParams(flags));
  await using runtime = openRuntime(flags);
  const options = executeOptions(flags);
  if (flags.explain) printNote(await explain(runtime, ref, options));
  const outcome = await runtime.execute(ref, params, { ...options, signal: interruption(), reject: false });
  printOutcome(outcome, flags);
  return outcome.ok ? 0 : EXIT_CODES[outcome.error.code];
}

/** Ends the call, not us: its cell is cleaned up and its receipt written before we leave. */
function interruption(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => controller.abort());
  return controller.signal;
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

/** From the option, the file, or stdin when something is piped in; else no parameters. */
async function readParams({ params, paramsFile }: RunFlags): Promise<string> {
  if (params !== undefined && paramsFile !== undefined) {
    throw new SkillError('usage', 'Both --params and --params-file are given', { fix: 'Give one of them.' });
  }
  if (params !== undefined) return params;
  if (paramsFile !== undefined) return readFileParams(paramsFile);
  return process.stdin.isTTY ? '' : decode(await collect(process.stdin, 'stdin'), 'stdin');
}

async function readFileParams(file: string): Promise<string> {
  const name = `"${file}"`;
  try {
    return decode(await collect(createReadStream(file), name), name);
  } catch (error) {
    if (error instanceof SkillError) throw error;
    throw new SkillError('usage', `Cannot read the parameters from ${name}`, {
      fix: 'Check the path.',
      cause: error,
    });
  }
}

async function collect(stream: AsyncIterable<Buffer>, name: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.length;
    if (bytes > MAX_PARAMS_BYTES) throw tooLarge(name);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function decode(bytes: Buffer, name: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new SkillError('invalid_params', `The parameters from ${name} are not UTF-8 text`, {
      fix: 'Give one JSON object, such as {"key": "value"}.',
    });
  }
}

function tooLarge(name: string): SkillError {
  return new SkillError('invalid_params', `The parameters from ${name} are larger than 16 MiB`, {
    fix: 'Pass large data as a file in the workspace.',
  });
}

function parseParams(text: string): unknown {
  if (text.trim() === '') return {};
  try {
    return JSON.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new SkillError('invalid_params', `The parameters are no JSON: ${reason}`, {
      fix: `Give one JSON object, such as --params '{"key": "value"}'.`,
    });
  }
}
