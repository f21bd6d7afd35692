/**
 * `skillcell program`
 *
 * @module
 */
import { extname } from 'node:path';
import {
  EXIT_CODES,
  printableLine,
  PROGRAM_LANGUAGE_NAMES,
  SkillError,
  type Outcome,
  type ProgramLanguage,
  type ProgramLimits,
  type ProgramOptions,
} from '../../inside.ts';
import { interruption } from '../interruption.ts';
import { LiveStatus } from '../live-status.ts';
import { openRuntime, variableNames } from '../open-runtime.ts';
import { readFileText, readParams, readStdinText } from '../params.ts';
import { printError, printLogs, printNote, printResult, printWarning } from '../output.ts';

export interface ProgramFlags {
  skills?: string[];
  language?: ProgramLanguage;
  input?: string;
  timeout?: string;
  memory?: string;
  calls?: number;
  workspace?: string;
  env?: string[];
  policy?: string;
  json?: boolean;
  keepContent?: boolean;
}

const BY_ENDING: Readonly<Record<string, string>> = {
  '.js': 'javascript',
  '.mjs': 'javascript',
  '.py': 'python',
};

export async function runProgram(file: string | undefined, flags: ProgramFlags): Promise<number> {
  const fromStdin = file === undefined || file === '-';
  const text = fromStdin ? await readStdinText() : await readFileText(file, 'program');
  // Editors may begin a file with a mark that Python does not accept.
  const source = text.replace(/^\uFEFF/, '');
  const input = flags.input === undefined ? {} : await readParams({ params: flags.input });
  await using runtime = openRuntime({ ...flags, skills: undefined });
  using status = new LiveStatus();
  const { onEvent } = status;
  const outcome = await runtime.program(
    { language: languageOf(file, flags.language), source, skills: flags.skills ?? [] },
    input,
    {
      ...optionsOf(flags),
      signal: interruption(),
      onEvent: (event) => {
        if (!event.call.lineage) onEvent(event);
      },
      reject: false,
    },
  );
  print(outcome, flags);
  return outcome.ok ? 0 : EXIT_CODES[outcome.error.code];
}

function languageOf(file: string | undefined, given: ProgramLanguage | undefined): ProgramLanguage {
  if (given !== undefined) return given;
  const wanted = BY_ENDING[extname(file ?? '')] ?? 'typescript';
  const known = PROGRAM_LANGUAGE_NAMES.find((name) => name === wanted);
  if (known !== undefined) return known;
  throw new SkillError('usage', `Programs cannot be written in ${wanted} yet`, {
    fix: `Use one of ${PROGRAM_LANGUAGE_NAMES.join(', ')}.`,
  });
}

function optionsOf({ timeout, memory, calls, workspace, env }: ProgramFlags): ProgramOptions {
  const limits: ProgramLimits = {
    ...(timeout === undefined ? {} : { timeout }),
    ...(memory === undefined ? {} : { memory }),
    ...(calls === undefined ? {} : { calls }),
  };
  return {
    limits,
    ...(workspace === undefined ? {} : { workspace }),
    ...(env === undefined ? {} : { allowEnv: variableNames(env) }),
  };
}

function print(outcome: Outcome, { json }: ProgramFlags): void {
  if (json) {
    printResult(outcome);
    return;
  }
  printLogs(outcome.logs);
  for (const warning of outcome.warnings) printWarning(warning);
  for (const { asked, declared } of outcome.capabilities.denied)
    printWarning(`denied: ${asked} (${declared})`);
  if (outcome.ok) printResult(outcome.result);
  else printError(outcome.error);
  if (process.stderr.isTTY) printNote(summaryOf(outcome), { style: 'dim' });
}

function summaryOf({ children = [], children_cut: cut = 0, usage, call_id }: Outcome): string {
  const failed = children.filter(({ code }) => code !== 'ok').map(({ skill, code }) => `${skill}: ${code}`);
  const calls = `${children.length + cut} calls${failed.length > 0 ? ` (${failed.join(', ')})` : ''}`;
  return printableLine(`${calls} · ${usage.wall_ms.toFixed(1)} ms · receipt ${call_id}`);
}
