/**
 * What it costs to call skills from a program in a cell: the same calls from the host and from programs in both languages,
 * in the same rounds. Receipts are written as by default, one per call.
 *
 * @module
 */
import { join } from 'node:path';
import { createRuntime, type Program, type Runtime } from '../../../src/index.ts';
import { packageRoot } from '../../../src/inside.ts';
import { inBenchFolder } from '../bench-folder.ts';
import { TEXT } from '../jobs.ts';
import { currentLoad, readMachine, type MachineFacts } from '../machine.ts';
import { shuffled } from '../rounds.ts';
import { summarize, type Row } from '../statistics.ts';
import type { Target } from '../targets.ts';
import { measureNeighbour } from './neighbour.ts';
import { placeFreshSkills, PROGRAMS, type Repeat } from './stage.ts';
import {
  AT_ONCE,
  CALLS,
  checkProgramTargets,
  COMPONENT,
  FRESH,
  HOST,
  PYTHON,
  PYTHON_SKILL,
  rowName,
  TYPESCRIPT,
} from './targets.ts';

const WARM_UP_ROUNDS = 2;
const SKILL_IDS = { [COMPONENT]: 'text/word_stats_rust', [PYTHON_SKILL]: 'text/word_stats_py' } as const;
const LIMITS = { calls: CALLS, timeout: '120s' } as const;

/** Makes calls in another project, and returns how many it made. */
export interface ProgramPeer {
  name: string;
  run: (calls: number) => Promise<unknown>;
}

export interface ProgramBenchOptions {
  rounds: number;
  peers?: readonly ProgramPeer[];
  /** Calls of a program that runs beside another caller; absent: thousands. */
  callsBeside?: number;
}

export interface ProgramReport {
  machine: MachineFacts;
  rows: Row[];
  targets: Target[];
}

/** Does its work once and returns how many calls it made. */
interface Variant {
  name: string;
  run: () => Promise<number>;
}

export function runProgramBench(options: ProgramBenchOptions): Promise<ProgramReport> {
  return inBenchFolder((folder) => benchIn(folder, options));
}

async function benchIn(
  folder: string,
  { rounds, peers = [], callsBeside = 3000 }: ProgramBenchOptions,
): Promise<ProgramReport> {
  const machine = await readMachine(join(folder, 'doctor'), 'python');
  placeFreshSkills(folder);
  await using runtime = createRuntime({
    home: join(folder, 'home'),
    cwd: folder,
    caller: 'bench',
    // All skills stay warm at the same time.
    pool: { maxStandby: 64 },
  });
  const inRounds = await measure(await variantsOf(runtime, peers), rounds);
  const neighbour = await runtime.load('bench/fresh_typescript');
  const beside = await measureNeighbour(runtime, {
    id: SKILL_IDS[COMPONENT],
    calls: callsBeside,
    call: () => runtime.execute(neighbour, { n: 1 }),
  });
  const rows = [...inRounds, ...beside];
  return { machine: { ...machine, loadAtEnd: currentLoad() }, rows, targets: checkProgramTargets(rows) };
}

/** Milliseconds per call; of one without calls, of the whole. */
async function measure(variants: readonly Variant[], rounds: number): Promise<Row[]> {
  const samples = new Map<string, number[]>(variants.map(({ name }) => [name, []]));
  for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
    for (const { name, run } of shuffled(variants, round + WARM_UP_ROUNDS)) {
      const began = performance.now();
      const calls = await run();
      const ms = performance.now() - began;
      if (round >= 0) samples.get(name)?.push(ms / Math.max(1, calls));
    }
  }
  return [...samples].map(([name, values]) => summarize(name, values));
}

async function variantsOf(runtime: Runtime, peers: readonly ProgramPeer[]): Promise<Variant[]> {
  const called = await Promise.all(
    Object.entries(SKILL_IDS).map(([what, id]) => variantsOfSkill(runtime, what, id)),
  );
  const fresh = Object.entries(FRESH).flatMap(([program, skill], at) =>
    freshPair(runtime, { program, skill, at }),
  );
  const others = peers.map(({ name, run }) => ({ name, run: async () => assertCalls(await run(CALLS)) }));
  return [...called.flat(), ...(await Promise.all(fresh)), ...others];
}

async function variantsOfSkill(runtime: Runtime, what: string, id: string): Promise<Variant[]> {
  const dir = join(packageRoot(), 'skills', id);
  const skill = await runtime.load(dir);
  await runtime.warm(skill);
  const call = async (): Promise<void> => void (await runtime.execute(skill, { text: TEXT }));
  const inProgram = (language: Program['language'], repeat: Repeat): (() => Promise<number>) => {
    const program = { language, source: PROGRAMS[repeat](language, id), skills: [id] };
    return async () => {
      const { result, children } = await runtime.program(
        program,
        { text: TEXT, count: CALLS },
        { limits: LIMITS },
      );
      if (children?.length !== CALLS) throw new Error(`The program made ${children?.length} calls`);
      return assertCalls(result);
    };
  };
  const oneByOne = [
    { name: rowName(what, HOST), run: () => repeated(call) },
    { name: rowName(what, TYPESCRIPT), run: inProgram('typescript', 'oneByOne') },
    { name: rowName(what, PYTHON), run: inProgram('python', 'oneByOne') },
  ];
  if (what !== COMPONENT) return oneByOne;
  return [
    ...oneByOne,
    { name: rowName(AT_ONCE, HOST), run: () => allAtOnce(call) },
    { name: rowName(AT_ONCE, TYPESCRIPT), run: inProgram('typescript', 'atOnce') },
    { name: rowName(AT_ONCE, PYTHON), run: inProgram('python', 'atOnce') },
  ];
}

async function repeated(call: () => Promise<void>): Promise<number> {
  for (let made = 0; made < CALLS; made++) await call();
  return CALLS;
}

async function allAtOnce(call: () => Promise<void>): Promise<number> {
  await Promise.all(Array.from({ length: CALLS }, call));
  return CALLS;
}

function freshPair(
  runtime: Runtime,
  { program, skill, at }: { program: string; skill: string; at: number },
): Promise<Variant>[] {
  const language = at === 0 ? 'typescript' : 'python';
  const ours = { name: program, run: async () => freshProgram(runtime, language) };
  return [Promise.resolve(ours), freshSkill(runtime, skill, `bench/fresh_${language}`)];
}

/** Its source is another one each time, as models write it. */
async function freshProgram(runtime: Runtime, language: Program['language']): Promise<number> {
  const number = Math.random();
  const { result } = await runtime.program({ language, source: `return ${number}` });
  if (result !== number) throw new Error('The program returned something else');
  return 0;
}

async function freshSkill(runtime: Runtime, name: string, id: string): Promise<Variant> {
  const skill = await runtime.load(id);
  await runtime.warm(skill);
  return {
    name,
    run: async () => {
      await runtime.execute(skill, { n: Math.random() });
      return 0;
    },
  };
}

function assertCalls(made: unknown): number {
  if (made !== CALLS) throw new Error(`Expected ${CALLS} calls, and got ${String(made)}`);
  return CALLS;
}
