/**
 * Calls of more and more skills in one runtime, one at a time, each of a skill chosen at random. A skill that was used lately has a warm
 * process; another one has to start one again.
 *
 * @module
 */
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Outcome, Runtime } from '../../src/index.ts';
import { memoryOfCells } from '../runner/memory.ts';
import { assertSame } from '../runner/rounds.ts';
import { quantile } from '../runner/statistics.ts';
import { seeded } from '../simulation/random.ts';
import { callOf, growthRuntime, type GrowthJob } from './engines.ts';

/** Latency of the calls of one kind; undefined if there were none. */
export interface CallsOfKind {
  calls: number;
  p50Ms?: number;
  p99Ms?: number;
}

export interface SkillsRow {
  engine: string;
  skills: number;
  /** Found a warm process. */
  warm: CallsOfKind;
  /** Had none: it was started for the call, or waited for a skill that needs one. */
  started: CallsOfKind;
  /** Processes after the calls, and their memory; undefined if it cannot be read. */
  processes: number;
  cellBytes: number | undefined;
  /** Resident memory of the caller's process. */
  hostBytes: number;
}

export const SKILLS: readonly number[] = [1, 10, 50, 100, 200];
const SEED = 20;

type Call = () => Promise<Outcome>;

export async function measureSkills(
  folder: string,
  { job, skills, seconds }: { job: GrowthJob; skills: readonly number[]; seconds: number },
): Promise<SkillsRow[]> {
  await using runtime = growthRuntime(folder);
  const random = seeded(SEED);
  const rows: SkillsRow[] = [];
  const calls: Call[] = [];
  const place = { runtime, folder, job };
  for (const count of skills) {
    while (calls.length < count) calls.push(await newSkill(place, calls.length));
    const timed = await callAtRandom(calls, random, seconds);
    rows.push(rowOf(job, count, timed));
  }
  return rows;
}

/** A copy under another name is another skill. Its first call is made here. */
async function newSkill(
  { runtime, folder, job }: { runtime: Runtime; folder: string; job: GrowthJob },
  at: number,
): Promise<Call> {
  const name = `growth_${at}`;
  const dir = join(folder, 'skills', job.execution, job.name.replaceAll(/\W+/g, '-'), name);
  cpSync(job.dir, dir, { recursive: true, filter: (file) => !file.endsWith('skill.lock') });
  const manifest = readFileSync(join(dir, 'manifest.yaml'), 'utf8');
  writeFileSync(join(dir, 'manifest.yaml'), manifest.replace(/^name: .*/m, `name: bench/${name}`));
  const call = callOf(runtime, await runtime.load(dir), job);
  await call();
  return call;
}

interface Timed {
  ms: number;
  hasStarted: boolean;
}

async function callAtRandom(calls: readonly Call[], random: () => number, seconds: number): Promise<Timed[]> {
  const timed: Timed[] = [];
  let expected: string | undefined;
  const ends = performance.now() + seconds * 1000;
  while (performance.now() < ends || timed.length === 0) {
    const call = calls[Math.floor(random() * calls.length)];
    const began = performance.now();
    const outcome = await call?.();
    const ms = performance.now() - began;
    if (!outcome?.ok) throw new Error(`A call of one of ${calls.length} skills failed`);
    const result = JSON.stringify(outcome.result);
    expected ??= result;
    assertSame('A call of one skill of many', result, expected);
    timed.push({ ms, hasStarted: outcome.execution?.start !== 'warm' });
  }
  return timed;
}

function rowOf({ name }: GrowthJob, skills: number, timed: readonly Timed[]): SkillsRow {
  const { cells, bytes } = memoryOfCells();
  return {
    engine: name,
    skills,
    warm: kindOf(timed.filter(({ hasStarted }) => !hasStarted)),
    started: kindOf(timed.filter(({ hasStarted }) => hasStarted)),
    processes: cells,
    cellBytes: bytes,
    hostBytes: process.memoryUsage.rss(),
  };
}

function kindOf(timed: readonly Timed[]): CallsOfKind {
  const samples = timed.map(({ ms }) => ms);
  if (samples.length === 0) return { calls: 0 };
  return { calls: samples.length, p50Ms: quantile(samples, 0.5), p99Ms: quantile(samples, 0.99) };
}
