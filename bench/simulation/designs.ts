/**
 * What the simulation compares, and what it assumes.
 *
 * @module
 */
import { newestResult } from '../saved-results.ts';
import type { PythonWasmReport } from '../runner/python-wasm/run-python-wasm-bench.ts';
import type { Design } from './model.ts';
import type { Measured } from './random.ts';

/** A design, and how many calls of one tenant may wait in it. */
export interface Choice extends Design {
  queue: number;
}

/** As `cluster setup` has it. */
const QUEUE = 1000;
const SHARDS = 256;
const FEW = 8;
const SHORT_QUEUE = 200;

export const CHOICES: readonly Choice[] = [
  { name: 'one queue for all', queues: 1, queue: QUEUE },
  { name: `${SHARDS} shards`, queues: SHARDS, queue: QUEUE },
  { name: `${SHARDS} shards, warm first`, queues: SHARDS, prefersWarm: true, queue: QUEUE },
  { name: 'queue per tenant', queue: QUEUE },
  { name: 'queue per tenant, warm first', prefersWarm: true, queue: QUEUE },
  { name: `queue per tenant, ${FEW} workers each`, workersPerTenant: FEW, queue: QUEUE },
  {
    name: `queue per tenant of ${SHORT_QUEUE} calls, ${FEW} workers each`,
    workersPerTenant: FEW,
    queue: SHORT_QUEUE,
  },
];

export interface Scale {
  workers: number;
  tenants: number;
}

export const SCALES: readonly Scale[] = [
  { workers: 10, tenants: 100 },
  { workers: 100, tenants: 1000 },
  { workers: 1000, tenants: 10_000 },
];

export const ASSUMED = {
  /** As many as the measured machine has cores. */
  slots: 2,
  /** Skills that stay warm on a worker: as many as a worker keeps loaded. */
  warmPlaces: 64,
  /** Mean time that a call waits for something outside, exponentially distributed. */
  outsideMs: 120,
  /** Way through the servers and back: the aim of the cluster, which the place of the call is kept for. */
  handOverMs: 2,
  /** Offered by quiet tenants and by floods, as a share of what the workers could do if all calls were warm. */
  quiet: 0.3,
  flood: 1,
  /** Tenants that flood. */
  floodShare: 0.01,
  /** The bounds of `cluster setup`: of all queues together, and of the running calls of a tenant. */
  queueOfAll: 50_000,
  concurrent: 100,
  /** An idle worker renews its parked request for each queue that often. */
  parkedMs: 2000,
  warmUpMs: 10_000,
  measuredMs: 15_000,
  seed: 18,
} as const;

/** Measured times of one call of prompt_rewriter, in ms. */
export interface ServiceTimes {
  /** Date of the report in `bench/results/`. */
  measured: string;
  warm: Measured;
  cold: Measured;
}

const WARM = 'Python in Wasm, jail';
const COLD = 'Python in Wasm, jail per call';

/** From the newest report of `npm run bench -- --only python-wasm`. */
export function savedTimes(): ServiceTimes {
  const report = newestResult('python-wasm') as PythonWasmReport;
  const rows = report.jobs.flatMap(({ job, rows }) => (job.includes('prompt_rewriter') ? rows : []));
  const row = (wanted: string): Measured => {
    const found = rows.find(({ name }) => name === wanted);
    if (!found) throw new Error(`The saved report has no row "${wanted}"`);
    const { min, median, p95 } = found;
    return { min, median, p95 };
  };
  return { measured: report.machine.date.slice(0, 10), warm: row(WARM), cold: row(COLD) };
}
