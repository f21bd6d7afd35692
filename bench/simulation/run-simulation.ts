/**
 * Simulates every design at every scale, with and without floods.
 *
 * @module
 */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeTreeSync } from '../../src/load/remove-tree.ts';
import { currentLoad, readMachine, type MachineFacts } from '../runner/machine.ts';
import { quantile } from '../runner/statistics.ts';
import {
  ASSUMED,
  CHOICES,
  savedTimes,
  SCALES,
  type Choice,
  type Scale,
  type ServiceTimes,
} from './designs.ts';
import type { Run, RunResult } from './model.ts';
import { exponential, fitted } from './random.ts';
import { simulate } from './simulate.ts';

export interface SimulationRow extends Scale {
  design: string;
  /** Calls per second. */
  throughput: number;
  quietP99: number;
  /** Of the same tenants without floods. */
  aloneP99: number;
  /** Share of the calls of quiet tenants. */
  quietRefused: number;
  warmShare: number;
  fairness: number;
  /** Requests for calls per second of all workers when nothing waits. */
  pulls: number;
}

export interface SimulationReport {
  machine: MachineFacts;
  times: ServiceTimes;
  assumed: typeof ASSUMED;
  rows: SimulationRow[];
}

export async function runSimulation(): Promise<SimulationReport> {
  const folder = mkdtempSync(join(tmpdir(), 'skillcell-bench-'));
  try {
    const machine = await readMachine(join(folder, 'doctor'), 'python-wasm');
    const times = savedTimes();
    const rows = SCALES.flatMap((scale) => CHOICES.map((choice) => rowOf(scale, choice, times)));
    return { machine: { ...machine, loadAtEnd: currentLoad() }, times, assumed: ASSUMED, rows };
  } finally {
    removeTreeSync(folder);
  }
}

export function rowOf(scale: Scale, choice: Choice, times: ServiceTimes): SimulationRow {
  const run = runOf(scale, choice, times);
  const crowded = simulate(run);
  const alone = simulate({ ...run, load: { ...run.load, floodRate: 0 } });
  return {
    ...scale,
    design: choice.name,
    ...figuresOf(crowded),
    aloneP99: quantile(alone.quietLatencies, 0.99),
    pulls: pullsOf(scale, choice),
  };
}

function figuresOf(
  result: RunResult,
): Pick<SimulationRow, 'throughput' | 'quietP99' | 'quietRefused' | 'warmShare' | 'fairness'> {
  const { throughput, warmShare, fairness, quietLatencies, quietOffered, quietRefused } = result;
  return {
    ...{ throughput, warmShare, fairness },
    quietP99: quantile(quietLatencies, 0.99),
    quietRefused: quietOffered === 0 ? 0 : quietRefused / quietOffered,
  };
}

export function runOf({ workers, tenants }: Scale, choice: Choice, times: ServiceTimes): Run {
  const { slots, outsideMs, handOverMs, quiet, flood, floodShare } = ASSUMED;
  const warm = fitted(times.warm);
  const cold = fitted(times.cold);
  const capacity = (workers * slots * 1000) / (handOverMs + times.warm.median + outsideMs);
  const { seed, warmPlaces, queueOfAll, concurrent, warmUpMs, measuredMs } = ASSUMED;
  return {
    ...{ seed, workers, slots, warmPlaces, queueOfAll, concurrent, warmUpMs, measuredMs },
    design: choice,
    queue: choice.queue,
    load: {
      tenants,
      floods: Math.round(tenants * floodShare),
      quietRate: capacity * quiet,
      floodRate: capacity * flood,
    },
    service: (isWarm, random) =>
      handOverMs + (isWarm ? warm(random) : cold(random)) + exponential(random, outsideMs),
  };
}

/** A parked request of each worker for each queue that it serves. */
function pullsOf({ workers, tenants }: Scale, { queues, workersPerTenant }: Choice): number {
  const parked =
    workersPerTenant === undefined
      ? workers * (queues ?? tenants)
      : tenants * Math.min(workers, workersPerTenant);
  return (parked * 1000) / ASSUMED.parkedMs;
}
