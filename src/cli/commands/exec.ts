/**
 * `skillcell exec`: passes the output and the exit code of a command through, as if it had been started directly.
 *
 * @module
 */
import { StringDecoder } from 'node:string_decoder';
import {
  DEFAULT_POLICY,
  EXIT_CODES,
  isOverlayWarning,
  fixForCommand,
  isPublicAddress,
  printable,
  printableLine,
  replacesBytes,
  SkillError,
  type CommandResult,
  type ExecOptions,
  type Outcome,
  type Runtime,
  type Skill,
} from '../../inside.ts';
import { invisibleWords, misplacedWords } from '../host-paths.ts';
import { interruption } from '../interruption.ts';
import { callOptions, openRuntime, type GrantFlags, type PlanFlags } from '../open-runtime.ts';
import { printError, printNote, printResult, printWarning } from '../output.ts';
import { readStdinText } from '../params.ts';
import { policyInForce } from '../policy-in-force.ts';

export interface ExecFlags extends PlanFlags, GrantFlags {
  json?: boolean;
  keepContent?: boolean;
  /** False with `--no-stdin`. */
  stdin?: boolean;
}

const LINE_BREAK = 10;
const NOTE_AFTER_MS = 5000;
const WAITING = 'Waiting for the standard input to end. Pass --no-stdin before the command if it needs none.';

type Streams = Record<'stdout' | 'stderr', (bytes: Uint8Array) => unknown>;

export async function exec(ref: string, command: readonly string[], flags: ExecFlags): Promise<number> {
  const signal = interruption();
  const stdin = flags.stdin === false || process.stdin.isTTY ? undefined : await wholeInput(signal);
  if (signal.aborted) return EXIT_CODES.cancelled;
  await using runtime = openRuntime({ ...flags, makesOneCall: true });
  let loaded: Skill | undefined;
  const load = async (name: string): Promise<Skill> => {
    loaded = await runtime.load(name);
    return loaded;
  };
  const options = { ...callOptions(flags), load, signal, ...(stdin ? { stdin } : {}) };
  if (flags.json) {
    const outcome = await runtime.exec(ref, command, { ...options, reject: false });
    printResult(outcome);
    return exitCode(outcome);
  }
  const { outcome, hasStreamed, endsInLine } = await passThrough(runtime, { ref, command, options });
  // What is wrong with the folder itself is for `inspect`: a script prints here on every run.
  const known = new Set((loaded?.bundle.warnings ?? []).filter((warning) => !isOverlayWarning(warning)));
  const warnings = outcome.warnings.filter(
    (warning) => !known.has(warning) && !(hasStreamed && replacesBytes(warning)),
  );
  const invisible = await warningsOfPaths(runtime, {
    ...{ skill: loaded, command, options },
    hasFailed: outcome.ok && exitCode(outcome) !== 0,
  });
  const remarks = [...warnings, ...invisible];
  // Otherwise our own line would look like a part of the script's.
  const hasRemarks = remarks.length > 0 || outcome.capabilities.denied.length > 0 || !outcome.ok;
  if (endsInLine && hasRemarks) process.stderr.write('\n');
  report(outcome, remarks);
  if (outcome.ok) printFix(outcome, { ref, command, flags });
  return exitCode(outcome);
}

function exitCode(outcome: Outcome): number {
  return outcome.ok ? (outcome.result as CommandResult).exit_code : EXIT_CODES[outcome.error.code];
}

/** Whether more input comes cannot be known, so it is waited for, and whoever wonders why is told how to do without. */
async function wholeInput(signal: AbortSignal): Promise<string | undefined> {
  const waiting = setTimeout(() => printNote(WAITING), NOTE_AFTER_MS);
  const stop = (): unknown => process.stdin.destroy();
  signal.addEventListener('abort', stop);
  try {
    return await readStdinText();
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  } finally {
    clearTimeout(waiting);
    signal.removeEventListener('abort', stop);
  }
}

interface ExecRequest {
  ref: string;
  command: readonly string[];
  options: ExecOptions;
}

/** After the command, because most commands name no such file, and then nothing has to be planned. */
async function warningsOfPaths(
  runtime: Runtime,
  {
    skill,
    command,
    options,
    hasFailed,
  }: Pick<ExecRequest, 'command' | 'options'> & {
    skill: Skill | undefined;
    hasFailed: boolean;
  },
): Promise<string[]> {
  if (skill === undefined) return [];
  const { sourceDir, files } = skill.bundle;
  const folders = [sourceDir, options.workspace];
  const misplaced = hasFailed ? misplacedWords(command, { workspace: options.workspace, files }) : [];
  return [...misplaced, ...(await invisibleAbsolute(runtime, skill, { command, options, folders }))];
}

async function invisibleAbsolute(
  runtime: Runtime,
  skill: Skill,
  {
    command,
    options,
    folders,
  }: Pick<ExecRequest, 'command' | 'options'> & { folders: (string | undefined)[] },
): Promise<string[]> {
  if (invisibleWords(command, [], folders).length === 0) return [];
  try {
    const { grant } = await runtime.plan(skill, options);
    return invisibleWords(command, grant.filesystem, folders);
  } catch (error) {
    // The call itself reported why it could not run.
    if (error instanceof SkillError) return [];
    throw error;
  }
}

interface Passed {
  outcome: Outcome;
  hasStreamed: boolean;
  /** The standard error of the command does not end with a line break. */
  endsInLine: boolean;
}

async function passThrough(runtime: Runtime, { ref, command, options }: ExecRequest): Promise<Passed> {
  const streams: Streams = { stdout: writer(process.stdout), stderr: writer(process.stderr) };
  let hasStreamed = false;
  let last: number | undefined;
  const pass: NonNullable<ExecOptions['onOutput']> = (bytes, stream) => {
    streams[stream](bytes);
    if (stream === 'stderr') last = bytes.at(-1) ?? last;
  };
  const onOutput: ExecOptions['onOutput'] = (bytes, stream) => {
    hasStreamed = true;
    pass(bytes, stream);
  };
  const outcome = await runtime.exec(ref, command, { ...options, onOutput, reject: false });
  // A call with secrets prints nothing before they have been removed.
  if (outcome.ok && !hasStreamed) {
    const { stdout, stderr } = outcome.result as CommandResult;
    pass(Buffer.from(stdout), 'stdout');
    pass(Buffer.from(stderr), 'stderr');
  }
  return { outcome, hasStreamed, endsInLine: last !== undefined && last !== LINE_BREAK };
}

/** Unchanged if another program reads it; escaped on a terminal, which would interpret control sequences. */
function writer(stream: NodeJS.WriteStream): (bytes: Uint8Array) => unknown {
  if (!stream.isTTY) return (bytes) => stream.write(bytes);
  const decoder = new StringDecoder('utf8');
  return (bytes) => stream.write(printable(decoder.write(Buffer.from(bytes))));
}

/** The options that would have allowed what was denied. */
function printFix(
  { capabilities }: Outcome,
  { ref, command, flags }: Pick<ExecRequest, 'ref' | 'command'> & { flags: ExecFlags },
): void {
  const { denied } = capabilities;
  if (denied.length === 0) return;
  const fix = fixForCommand({
    ...{ denied, skill: ref, words: command, workspace: flags.workspace, isPublicAddress },
    policy: policyInForce(flags.policy) ?? DEFAULT_POLICY,
  });
  if (fix !== undefined) printNote(printableLine(fix), { label: { style: 'green', text: 'fix:' } });
}

function report(outcome: Outcome, warnings: readonly string[]): void {
  for (const warning of warnings) printWarning(warning);
  const { denied, cut } = outcome.capabilities;
  for (const { asked, declared } of denied) printWarning(`denied: ${asked} (${declared})`);
  if (cut && cut.denied > 0) printWarning(`denied: ${cut.denied} more acts (not listed)`);
  if (!outcome.ok) printError(outcome.error);
}
