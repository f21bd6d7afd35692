/**
 * Asks every script that is meant to be run for its usage, in a cell of its own that may start processes (in a jail) and nothing else.
 *
 * @module
 */
import { posix } from 'node:path';
import { SkillError, type Outcome, type Runtime, type Skill } from '../../src/inside.ts';
import { loadedModules } from '../../src/load/loaded-modules.ts';
import { ANSWERS, classify, commandOf, type Answer } from './classify.ts';
import { meantToRun } from './meant-to-run.ts';

const LIMIT_MS = 60_000;
/** Many scripts start programs before they read their arguments. Nothing else is granted. */
const PROCESSES = { limits: { processes: 16 } };
type AskedMode = 'subprocess' | 'wasm';

export interface AskedScript {
  skill: string;
  script: string;
  /** The command that got the best answer in a jail. */
  command: string;
  jail: Answer;
  wasm: Answer;
  /** Whether both printed the same bytes and ended with the same code; absent unless both answered. */
  same?: boolean;
  /** The answer in Wasm with wheels that were built for it, if there is none without them. */
  built?: Answer;
  /** What it imports of Python that Wasm does not have; absent in older results. */
  lacks?: string[];
}

export interface AskedSkill {
  scripts: AskedScript[];
  /** Installed packages, or why they are not. */
  packages: string[];
  problem: string;
}

/** Installs the packages that the imports suggest, then runs each script. */
export async function askScripts(runtime: Runtime, skill: string, dir: string): Promise<AskedSkill> {
  const { bundle } = await runtime.load(dir);
  const meant = meantToRun(bundle);
  if (meant.length === 0) return { scripts: [], packages: [], problem: '' };
  const { packages, problem } = await installPackages(runtime, dir);
  const scripts: AskedScript[] = [];
  for (const { path, language } of meant) {
    const what = { dir, commands: commandsFor(path, language) };
    const jail = await ask(runtime, what, 'subprocess');
    const wasm = await ask(runtime, what, 'wasm');
    const bothAnswer = jail.answer.kind === 'answered' && wasm.answer.kind === 'answered';
    const answers = { jail: jail.answer, wasm: wasm.answer };
    scripts.push({
      ...{ skill, script: path, command: jail.command, ...answers },
      ...(bothAnswer ? { same: jail.printed === wasm.printed } : {}),
      lacks: language === 'python' ? lacksInWasm(bundle, path) : [],
    });
  }
  return { scripts, packages, problem };
}

/** Asks those again in Wasm that were refused for want of a package. The runtime finds built wheels, and has no packages yet. */
export async function askWithWheels(
  runtime: Runtime,
  dir: string,
  asked: readonly AskedScript[],
): Promise<void> {
  const refused = asked.filter(
    ({ wasm }) => wasm.kind === 'refused' && wasm.why.includes('no package for Wasm'),
  );
  if (refused.length === 0) return;
  await installPackages(runtime, dir);
  for (const script of refused)
    script.built = (await ask(runtime, { dir, commands: [script.command.split(' ')] }, 'wasm')).answer;
}

/** Modules of Python that start processes or threads, or open sockets. */
const NOT_IN_WASM: ReadonlySet<string> = new Set([
  ...['subprocess', 'multiprocessing', 'threading', 'socket', 'signal', 'ctypes', 'fcntl'],
]);

function lacksInWasm(bundle: Skill['bundle'], path: string): string[] {
  const folder = posix.dirname(path);
  const modules = loadedModules(bundle, [path], folder === '.' ? '' : folder) ?? [];
  return modules.map(({ name }) => name).filter((name) => NOT_IN_WASM.has(name));
}

/** A skill whose packages cannot be installed is asked without them. */
export async function installPackages(
  runtime: Runtime,
  dir: string,
): Promise<{ packages: string[]; problem: string }> {
  try {
    const { installation } = await runtime.install(dir, { acceptPackages: () => true });
    const all = Object.values(installation.packages).flatMap(({ packages }) => packages);
    const names = all.map(({ name, version }) => `${name} ${version}`);
    return { packages: [...new Set(names)].sort(), problem: '' };
  } catch (error) {
    if (!(error instanceof SkillError)) throw error;
    return { packages: [], problem: error.message };
  }
}

/** With `--help`, as a module if it imports its neighbours that way, and without an argument, which often prints the usage. */
function commandsFor(path: string, language: string): string[][] {
  if (language === 'python') {
    const module = path.replace(/\.py$/, '').replaceAll('/', '.');
    const ways = [['python', path], ...(/^[\w.]+$/.test(module) ? [['python', '-m', module]] : [])];
    return [...ways.map((way) => [...way, '--help']), ...ways];
  }
  const program = language === 'node' ? 'node' : 'bash';
  return [
    [program, path, '--help'],
    [program, path],
  ];
}

interface Tried {
  command: string;
  answer: Answer;
  printed: string;
}

function printedBy(outcome: Outcome): string {
  const { exit_code: code, stdout, stderr } = commandOf(outcome.ok ? outcome.result : undefined);
  return JSON.stringify([code, stdout, stderr]);
}

async function ask(
  runtime: Runtime,
  { dir, commands }: { dir: string; commands: readonly string[][] },
  execution: AskedMode,
): Promise<Tried> {
  const tried: Tried[] = [];
  for (const command of commands) {
    const signal = AbortSignal.timeout(LIMIT_MS);
    // Wasm has no processes, and refuses a call that may start some.
    const grants = execution === 'wasm' ? {} : PROCESSES;
    const options = { execution, signal, grants, reject: false } as const;
    const outcome: Outcome = await runtime.exec(dir, command, options);
    tried.push({ command: command.join(' '), answer: classify(outcome), printed: printedBy(outcome) });
    if (!isWorthRetrying(outcome)) break;
  }
  const byRank = tried.toSorted((a, b) => ANSWERS.indexOf(a.answer.kind) - ANSWERS.indexOf(b.answer.kind));
  return (
    byRank[0] ?? { command: '', printed: '', answer: { kind: 'failed', why: 'there is no command for it' } }
  );
}

/** Only a command that ended with an error is tried in another way; a refusal is the same for all. */
function isWorthRetrying(outcome: Outcome): boolean {
  return outcome.ok && commandOf(outcome.result).exit_code !== 0;
}
