/**
 * The bench of programs does what it says: every way is really taken. Durations are not tested.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runProgramBench, type ProgramReport } from '../../bench/runner/programs/run-program-bench.ts';
import { PROGRAM_PEER_NAMES, PROGRAM_PEER_NOTES } from '../../bench/runner/programs/peers.ts';
import { ALONE, BESIDE } from '../../bench/runner/programs/neighbour.ts';
import { PEERS } from '../../bench/peer-process.ts';
import { ProgramPeers } from '../../bench/program-peers.ts';
import { formatProgramReport } from '../../bench/runner/programs/table.ts';
import {
  addedMs,
  AT_ONCE,
  checkProgramTargets,
  FRESH,
  HOST,
  PLACES,
  rowName,
  SKILLS,
} from '../../bench/runner/programs/targets.ts';

/** Only what is a dependency of ours: the bench installs the others. */
const peers = new ProgramPeers();
let report: ProgramReport;
beforeAll(async () => {
  await peers.addAiSdk();
  report = await runProgramBench({ rounds: 1, peers: peers.peers, callsBeside: 40 });
});
afterAll(() => peers[Symbol.asyncDispose]());

test('every place and both languages are measured next to the host', () => {
  const called = [...SKILLS, AT_ONCE].flatMap((what) => PLACES.map((place) => rowName(what, place)));
  expect(report.rows.map(({ name }) => name).toSorted()).toEqual(
    [
      ...called,
      ...Object.keys(FRESH),
      ALONE,
      BESIDE,
      ...Object.values(FRESH),
      PROGRAM_PEER_NAMES.aiSdk,
    ].toSorted(),
  );
  for (const row of report.rows) expect(row.min).toBeGreaterThan(0);
});

test('the measurements are judged and printed', () => {
  expect(report.targets.map(({ met }) => typeof met)).toEqual(Array.from({ length: 7 }, () => 'boolean'));
  expect(formatProgramReport(report)).not.toMatch(/NaN|undefined/);
  expect(formatProgramReport(report)).toContain(PROGRAM_PEER_NOTES[PROGRAM_PEER_NAMES.aiSdk]);
});

test('a peer that does not start is reported and not measured', async () => {
  await using missing = new ProgramPeers();
  await missing.addModule('nothing', 'programs/not-there');
  expect(missing).toMatchObject({ peers: [], leftOut: ['nothing: The peer exited with 1'] });
});

test('a peer whose tool saw fewer calls than its program counted is not measured', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'skillcell-lazy-peer-'));
  writeFileSync(
    join(folder, 'lazy.js'),
    `export const start = () => ({ call: () => '{"made":3,"served":2}' });`,
  );
  try {
    await using lazy = new ProgramPeers();
    await lazy.addModule('lazy', join(relative(PEERS, folder), 'lazy'));
    expect(lazy).toMatchObject({ peers: [], leftOut: ['lazy: 3 calls made and 2 served instead of 3'] });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a call that costs too much is reported', () => {
  const row = (name: string, median: number) => ({ name, n: 1, median, p95: 1, min: 1 });
  const [what = ''] = SKILLS;
  const rows = PLACES.map((place) => row(rowName(what, place), place === HOST ? 1 : 1.2));
  expect(addedMs(rows, rows[1]?.name ?? '', rows[0]?.name ?? '')).toBeCloseTo(0.2);
  expect(
    checkProgramTargets(rows)
      .map(({ met }) => met)
      .slice(0, 2),
  ).toEqual([true, true]);
  const slow = rows.map(({ name, median }) => row(name, median === 1 ? 1 : 2));
  expect(
    checkProgramTargets(slow)
      .map(({ met }) => met)
      .slice(0, 2),
  ).toEqual([false, false]);
});
