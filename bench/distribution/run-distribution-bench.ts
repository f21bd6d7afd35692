/**
 * Measures adding a skill from a registry on loopback, and installing pinned skills that are here. Every act has a process
 * of its own, a new home and a new project. Copying the same artifact with skopeo, in the same rounds, is for comparison:
 * it transfers and unpacks nothing else, and inspects nothing.
 *
 * @module
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeTreeSync } from '../../src/load/remove-tree.ts';
import { childCpuMs } from '../runner/child-cpu.ts';
import { currentLoad, readMachine, type MachineFacts } from '../runner/machine.ts';
import { summarize, type Row } from '../runner/statistics.ts';
import { atMost, type Target } from '../runner/targets.ts';
import type { Cost } from './one-run.ts';
import { LARGE_FILES, PINNED, setStage, type Stage } from './stage.ts';

export const SMALL = 'add a skill of 70 KB';
export const LARGE: string = `add a skill of ${LARGE_FILES} files`;
export const FROZEN: string = `install --frozen, ${PINNED} skills that are here`;
export const COPY = 'skopeo copy of the skill of 70 KB';

/** In ms, of our own CPU time on a quiet machine; the fastest round is the closest to that. */
const AIMS: Readonly<Record<string, number>> = { [SMALL]: 150, [LARGE]: 1000, [FROZEN]: 300 };

export interface DistributionRow {
  name: string;
  wall: Row;
  /** CPU time of our process; of the program, for another one. */
  own: Row;
  /** CPU time of the processes that inspect the skill in a cell. */
  cell: Row;
}

export interface DistributionReport {
  machine: MachineFacts;
  rows: DistributionRow[];
  targets: Target[];
}

export async function runDistributionBench({ rounds }: { rounds: number }): Promise<DistributionReport> {
  const folder = mkdtempSync(join(tmpdir(), 'skillcell-bench-'));
  chmodSync(folder, 0o711);
  try {
    const machine = await readMachine(join(folder, 'home'), 'component');
    await using stage = await setStage(folder);
    const costs = new Map<string, Cost[]>();
    for (let round = 0; round < rounds; round++)
      for (const [name, act] of actsOf(stage, folder)) {
        const known = costs.get(name) ?? [];
        costs.set(name, [...known, act()]);
      }
    const rows = [...costs].map(([name, all]) => rowOf(name, all));
    return { machine: { ...machine, loadAtEnd: currentLoad() }, rows, targets: targetsOf(rows) };
  } finally {
    removeTreeSync(folder);
  }
}

function actsOf(stage: Stage, folder: string): [name: string, act: () => Cost][] {
  return [
    [SMALL, () => oneRun(newPlace(folder), stage.small)],
    [LARGE, () => oneRun(newPlace(folder), stage.large)],
    [FROZEN, () => oneRun(stage.pinned)],
    [COPY, () => copy(stage.small, folder)],
  ];
}

function newPlace(folder: string): Stage['pinned'] {
  const place = mkdtempSync(join(folder, 'place-'));
  chmodSync(place, 0o711);
  const project = join(place, 'project');
  mkdirSync(project);
  return { home: join(place, 'home'), project };
}

function oneRun({ home, project }: Stage['pinned'], add?: string): Cost {
  const script = join(import.meta.dirname, 'one-run.ts');
  const args = ['--home', home, '--project', project, ...(add === undefined ? [] : ['--add', add])];
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`The measured run failed: ${stderr}`);
  return JSON.parse(stdout) as Cost;
}

function copy(reference: string, folder: string): Cost {
  const from = `docker://${reference.slice('oci://'.length)}:1.0.0`;
  const to = `dir:${mkdtempSync(join(folder, 'copy-'))}`;
  const args = ['--insecure-policy', 'copy', '--quiet', '--src-tls-verify=false', from, to];
  const [wall, before] = [performance.now(), childCpuMs()];
  const { status, stderr } = spawnSync('skopeo', args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`skopeo failed: ${stderr}`);
  return { wallMs: performance.now() - wall, ownMs: childCpuMs() - before, cellMs: 0 };
}

function rowOf(name: string, costs: readonly Cost[]): DistributionRow {
  const of = (key: keyof Cost): Row =>
    summarize(
      key,
      costs.map((cost) => cost[key]),
    );
  return { name, wall: of('wallMs'), own: of('ownMs'), cell: of('cellMs') };
}

function targetsOf(rows: readonly DistributionRow[]): Target[] {
  return Object.entries(AIMS).map(([name, ms]) =>
    atMost(
      `${name}: at most ${ms} ms of our own CPU time, in the fastest round`,
      rows.find((row) => row.name === name)?.own.min ?? NaN,
      ms,
    ),
  );
}
