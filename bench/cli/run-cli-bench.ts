/**
 * How long the commands of the packed package take, from the start of the process to its end: packed, installed into a
 * folder and run on this Node, with a home that was used before.
 *
 * @module
 */
import { spawn } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { installRuntime } from '../../scripts/package-steps.ts';
import { inBenchFolder } from '../runner/bench-folder.ts';
import { childCpuMs } from '../runner/child-cpu.ts';
import { currentLoad, readMachine, type MachineFacts } from '../runner/machine.ts';
import { PAUSE_MS, shuffled } from '../runner/rounds.ts';
import { summarize, type Row } from '../runner/statistics.ts';
import { atMost, type Target } from '../runner/targets.ts';
import { missingPeers, otherCommands, ownCommands, RUN, VERSION, type TimedCommand } from './commands.ts';

const WARM_UP_ROUNDS = 2;
const MOST_RUN_MS = 180;
const MOST_VERSION_MS = 60;

/** Wall-clock time of one command, and its mean CPU time with that of its cells. */
export interface CliRow extends Row {
  cpuMs: number;
}

export interface CliReport {
  machine: MachineFacts;
  rows: CliRow[];
  targets: Target[];
  leftOut: string[];
}

export interface CliBenchOptions {
  rounds: number;
  /** Only these rows; absent: all. */
  only?: readonly string[];
}

export function runCliBench(options: CliBenchOptions): Promise<CliReport> {
  return inBenchFolder((folder) => benchIn(folder, options));
}

async function benchIn(folder: string, { rounds, only }: CliBenchOptions): Promise<CliReport> {
  const machine = await readMachine(join(folder, 'doctor'), 'python', 'subprocess');
  const place = { cwd: join(folder, 'project'), env: environment(folder) };
  mkdirSync(place.cwd);
  const command = installRuntime(place.cwd);
  linkCommand(place.cwd);
  const all = [...ownCommands(command, writeAgentSkill(place.cwd)), ...otherCommands()];
  const commands = all.filter(({ name }) => only?.includes(name) ?? true);
  const rows = await measure(commands, rounds, place);
  const median = (name: string): number => rows.find((row) => row.name === name)?.median ?? NaN;
  return {
    machine: { ...machine, loadAtEnd: currentLoad() },
    rows,
    targets: [
      atMost(`\`${VERSION}\` at most ${MOST_VERSION_MS} ms`, median(VERSION), MOST_VERSION_MS),
      atMost(`\`${RUN}\` at most ${MOST_RUN_MS} ms`, median(RUN), MOST_RUN_MS),
    ],
    leftOut: missingPeers(all).map((name) => `${name}: it is not installed`),
  };
}

interface Place {
  cwd: string;
  env: NodeJS.ProcessEnv;
}

/** A home of its own, also for the compiled modules. */
function environment(folder: string): NodeJS.ProcessEnv {
  const { PATH, HOME } = process.env;
  const cache = join(folder, 'cache');
  mkdirSync(cache, { mode: 0o700 });
  return {
    PATH,
    HOME,
    SKILLCELL_HOME: join(folder, 'home'),
    XDG_CACHE_HOME: cache,
    npm_config_offline: 'true',
  };
}

/** For `npx`, as npm would. */
function linkCommand(project: string): void {
  const bin = join(project, 'node_modules/.bin');
  mkdirSync(bin, { recursive: true });
  symlinkSync('../skillcell/bin/skillcell.js', join(bin, 'skillcell'));
}

function writeAgentSkill(project: string): string {
  const folder = join(project, 'hello');
  const script = join(folder, 'scripts/hello.py');
  mkdirSync(dirname(script), { recursive: true });
  writeFileSync(
    join(folder, 'SKILL.md'),
    '---\nname: hello\ndescription: Prints one word.\n---\nRun scripts/hello.py.\n',
  );
  writeFileSync(script, 'print("ok")\n');
  return folder;
}

async function measure(commands: readonly TimedCommand[], rounds: number, place: Place): Promise<CliRow[]> {
  const samples = new Map(commands.map(({ name }) => [name, { ms: [] as number[], cpuMs: 0 }]));
  for (let round = 0; round < rounds + WARM_UP_ROUNDS; round++) {
    const counts = round >= WARM_UP_ROUNDS;
    for (const command of shuffled(commands, round)) {
      if (counts && (round - WARM_UP_ROUNDS) % (command.every ?? 1) !== 0) continue;
      const { ms, cpuMs } = await timed(command, place);
      const sample = samples.get(command.name);
      if (!counts || !sample) continue;
      sample.ms.push(ms);
      sample.cpuMs += cpuMs;
    }
  }
  return [...samples].map(([name, { ms, cpuMs }]) =>
    Object.assign(summarize(name, ms), { cpuMs: cpuMs / ms.length }),
  );
}

/** Until the process has ended. Throws if it failed, because a command that does less would look fast. */
async function timed(
  { name, argv, input = '' }: TimedCommand,
  { cwd, env }: Place,
): Promise<{ ms: number; cpuMs: number }> {
  const [program, ...args] = argv;
  const cpuBefore = childCpuMs();
  const began = performance.now();
  const child = spawn(program, args, { cwd, env, stdio: ['pipe', 'ignore', 'pipe'] });
  const errors: Buffer[] = [];
  child.stderr.on('data', (bytes: Buffer) => errors.push(bytes));
  child.stdin.on('error', () => undefined).end(input);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const ms = performance.now() - began;
  if (code !== 0) throw new Error(`"${name}" ended with ${code}: ${Buffer.concat(errors).toString('utf8')}`);
  await sleep(PAUSE_MS);
  return { ms, cpuMs: childCpuMs() - cpuBefore };
}
