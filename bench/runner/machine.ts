/**
 * Facts that are needed to interpret a figure.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { createRuntime, SkillError, type PairReport } from '../../src/index.ts';
import { packageRoot } from '../../src/inside.ts';

export interface MachineFacts {
  date: string;
  cores: number;
  cpu: string;
  memory: string;
  kernel: string;
  arch: string;
  node: string;
  skillcell: string;
  /** What runs and confines a cell here, as `doctor` reports it. */
  cell: string;
  loadAtStart: number;
  loadAtEnd: number;
}

/** For the strongest mode that has this engine, unless one is named. */
export async function readMachine(
  home: string,
  engine: PairReport['engine'],
  mode?: PairReport['mode'],
): Promise<MachineFacts> {
  await using runtime = createRuntime({ home, audit: false });
  const pair = (await runtime.doctor()).find(
    (pair) => pair.engine === engine && (mode === undefined || pair.mode === mode),
  );
  if (!pair?.available) {
    throw new SkillError(
      'skill_unavailable',
      `Cells cannot run here: ${pair?.summary ?? 'no suitable wall and engine'}`,
      {
        fix: pair?.fix ?? 'Run `skillcell doctor` to see what this machine has.',
      },
    );
  }
  const load = currentLoad();
  return {
    date: new Date().toISOString(),
    cores: availableParallelism(),
    cpu: cpus()[0]?.model ?? 'unknown',
    memory: `${(totalmem() / 1024 ** 3).toFixed(1)} GiB`,
    kernel: release(),
    arch: process.arch,
    node: process.versions.node,
    skillcell: ownVersion(),
    cell: pair.summary,
    loadAtStart: load,
    loadAtEnd: load,
  };
}

/** Load average of the last minute. */
export function currentLoad(): number {
  return loadavg()[0] ?? NaN;
}

function ownVersion(): string {
  const text = readFileSync(join(packageRoot(), 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
