/**
 * A soak: many skills on one machine, each called about once a minute, with the pool's defaults.
 *
 * @module
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRuntime, type Runtime, type Skill } from '../../src/index.ts';
import { packageRoot } from '../../src/inside.ts';
import { inBenchFolder } from '../runner/bench-folder.ts';
import { currentLoad, readMachine, type MachineFacts } from '../runner/machine.ts';
import { quantile } from '../runner/statistics.ts';
import { atMost, type Target } from '../runner/targets.ts';
import { KINDS, writeSkills, type DenseSkill, type Kind } from './skills.ts';

export interface DensityOptions {
  skills: number;
  minutes: number;
}

export interface KindRow {
  kind: Kind | 'all';
  calls: number;
  medianMs: number;
  p95Ms: number;
  p99Ms: number;
  maxMs: number;
  /** Calls by where their cell came from. */
  starts: Record<string, number>;
}

export interface MemorySample {
  /** Milliseconds since the start of the soak. */
  at: number;
  processes: number;
  /** Bytes (Pss): of the host, and of all other processes below it. */
  host: number;
  cells: number;
}

export interface MinuteRow {
  minute: number;
  calls: number;
  p99Ms: number;
  /** Calls of skills whose cells had ended, because there was no room for them. */
  ended: number;
  /** The largest sample. */
  bytes: number;
}

export interface DensityReport {
  machine: MachineFacts;
  skills: number;
  minutes: number;
  failed: number;
  rows: KindRow[];
  perMinute: MinuteRow[];
  /** The first call of each skill, which installs what it needs. */
  firstCalls: KindRow[];
  memory: { medianBytes: number; maxBytes: number; hostBytes: number; maxProcesses: number };
  /** CPU time of the host as a share of one core. */
  hostCpu: number;
  targets: Target[];
}

interface Sample {
  kind: Kind;
  /** Milliseconds since the start of the soak. */
  at: number;
  ms: number;
  start: string;
  ok: boolean;
}

interface Loaded extends DenseSkill {
  skill: Skill;
}

const PERIOD_MS = 60_000;
/** Part of the period by which a call may be early or late. */
const JITTER = 0.2;
const SAMPLE_SECONDS = 5;
const MIB = 1024 * 1024;
const PARAMS = { text: 'one two three' };

export function runDensityBench(options: DensityOptions): Promise<DensityReport> {
  return inBenchFolder((folder) => benchIn(folder, options));
}

async function benchIn(folder: string, { skills, minutes }: DensityOptions): Promise<DensityReport> {
  const machine = await readMachine(join(folder, 'doctor'), 'component');
  await using runtime = createRuntime({ home: join(folder, 'home'), caller: 'bench' });
  const loaded: Loaded[] = [];
  for (const dense of writeSkills(folder, skills))
    loaded.push({ ...dense, skill: await runtime.load(dense.dir) });
  const first = await soak(runtime, loaded, PERIOD_MS);
  const memory = sampleMemory();
  const cpu = process.cpuUsage();
  const samples = await soak(runtime, loaded, minutes * PERIOD_MS);
  const { user, system } = process.cpuUsage(cpu);
  const sampled = await memory();
  const all = sampled.map(bytesOf);
  const rows = rowsOf(samples);
  const overall = rows.find(({ kind }) => kind === 'all');
  return {
    machine: { ...machine, loadAtEnd: currentLoad() },
    skills,
    minutes,
    failed: [...first, ...samples].filter(({ ok }) => !ok).length,
    rows,
    perMinute: Array.from({ length: Math.ceil(minutes) }, (_, minute) => minuteOf(minute, samples, sampled)),
    firstCalls: rowsOf(first),
    memory: {
      medianBytes: quantile(all, 0.5),
      maxBytes: quantile(all, 1),
      hostBytes: quantile(
        sampled.map(({ host }) => host),
        0.5,
      ),
      maxProcesses: Math.max(...sampled.map(({ processes }) => processes)),
    },
    hostCpu: (user + system) / 1000 / (minutes * PERIOD_MS),
    targets: [
      atMost(`${skills} skills, each once a minute: p99 at most 30 ms`, overall?.p99Ms ?? NaN, 30),
      atMostMemory(
        `${skills} skills, each once a minute: at most 2 GiB in all`,
        quantile(all, 1),
        2048 * MIB,
      ),
    ],
  };
}

function atMostMemory(aim: string, bytes: number, limit: number): Target {
  const found = `${(bytes / MIB).toFixed(0)} MiB`;
  return Number.isNaN(bytes)
    ? { aim, met: undefined, found: 'not measured' }
    : { aim, met: bytes <= limit, found };
}

function bytesOf({ host, cells }: MemorySample): number {
  return host + cells;
}

function minuteOf(minute: number, samples: readonly Sample[], sampled: readonly MemorySample[]): MinuteRow {
  const isThen = ({ at }: { at: number }): boolean => Math.floor(at / PERIOD_MS) === minute;
  const own = samples.filter(isThen);
  return {
    minute: minute + 1,
    calls: own.length,
    p99Ms: quantile(
      own.map(({ ms }) => ms),
      0.99,
    ),
    ended: own.filter(hadEnded).length,
    bytes: Math.max(...sampled.filter(isThen).map(bytesOf)),
  };
}

/** A native cell serves one call, so one that is ready was started ahead for the skill. */
function hadEnded({ kind, start }: Sample): boolean {
  return kind === 'native Python' ? start === 'cold' : start !== 'warm';
}

/** Every skill in turn, each at its own time of the minute, a little early or late. */
async function soak(runtime: Runtime, skills: readonly Loaded[], ms: number): Promise<Sample[]> {
  const samples: Sample[] = [];
  const began = performance.now();
  const callAll = async (dense: Loaded, at: number): Promise<void> => {
    const phase = (at / skills.length) * PERIOD_MS;
    for (let round = 0; round * PERIOD_MS < ms; round++) {
      const due = round * PERIOD_MS + phase + (Math.random() - 0.5) * JITTER * PERIOD_MS;
      await sleep(Math.max(0, began + due - performance.now()));
      const at = performance.now() - began;
      samples.push({ at, ...(await callOnce(runtime, dense)) });
    }
  };
  // In an order in which kinds and skills are mixed.
  const shuffled = skills.toSorted((a, b) => hashOf(a.dir) - hashOf(b.dir));
  await Promise.all(shuffled.map(callAll));
  return samples;
}

function hashOf(text: string): number {
  let hash = 7;
  for (const char of text) hash = (hash * 31 + char.charCodeAt(0)) % 1_000_003;
  return (hash * 7919) % 1_000_003;
}

async function callOnce(runtime: Runtime, { skill, kind, words }: Loaded): Promise<Omit<Sample, 'at'>> {
  const sent = performance.now();
  const outcome = await runtime.execute(skill, PARAMS, { reject: false });
  const ms = performance.now() - sent;
  const isRight = outcome.ok && (outcome.result as { words?: number }).words === words;
  return { kind, ms, start: outcome.execution?.start ?? 'none', ok: isRight };
}

function rowsOf(samples: readonly Sample[]): KindRow[] {
  return [...KINDS, 'all' as const].map((kind) => {
    const own = samples.filter((sample) => kind === 'all' || sample.kind === kind);
    const times = own.map(({ ms }) => ms);
    const starts: Record<string, number> = {};
    for (const { start } of own) starts[start] = (starts[start] ?? 0) + 1;
    return {
      kind,
      calls: own.length,
      medianMs: quantile(times, 0.5),
      p95Ms: quantile(times, 0.95),
      p99Ms: quantile(times, 0.99),
      maxMs: quantile(times, 1),
      starts,
    };
  });
}

/** Starts a process that measures; the returned function ends it and returns what it found. */
function sampleMemory(): () => Promise<MemorySample[]> {
  const sampler = join(packageRoot(), 'bench', 'density', 'memory-sampler.ts');
  const child = spawn(
    process.execPath,
    ['--no-warnings', sampler, String(process.pid), String(SAMPLE_SECONDS)],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  );
  const samples: MemorySample[] = [];
  const began = performance.now();
  const lines = createInterface(child.stdout);
  lines.on('line', (line) => {
    samples.push({ at: performance.now() - began, ...(JSON.parse(line) as Omit<MemorySample, 'at'>) });
  });
  return async () => {
    child.stdin.end();
    await new Promise((resolve) => child.once('exit', resolve));
    return samples;
  };
}
