/**
 * Settings and result of one simulated run.
 *
 * @module
 */
import type { Random } from './random.ts';

/** How calls reach workers. */
export interface Design {
  name: string;
  /** Queues that tenants share by their number; absent: one for each tenant. */
  queues?: number;
  /** A free worker prefers a call whose skill is warm there, and a call prefers such a worker. */
  prefersWarm?: boolean;
  /** Each tenant is served by this many workers only; absent: by all. */
  workersPerTenant?: number;
}

/** Who calls how often. */
export interface Load {
  tenants: number;
  /** The first of the tenants; they send much more than their share. */
  floods: number;
  /** Calls per second of all quiet tenants together, and of all floods together. */
  quietRate: number;
  floodRate: number;
}

/** One run. Times are in ms. */
export interface Run {
  seed: number;
  workers: number;
  slots: number;
  /** Skills that stay warm on a worker; each tenant calls one skill of its own. */
  warmPlaces: number;
  load: Load;
  design: Design;
  /** Calls of one tenant that may wait or run, and of all together; more are refused. */
  queue: number;
  queueOfAll: number;
  /** Calls of a tenant that may run at the same time, where it has a queue of its own. */
  concurrent: number;
  /** How long a call keeps its place on a worker. */
  service: (isWarm: boolean, random: Random) => number;
  warmUpMs: number;
  measuredMs: number;
}

/** Latencies are those of calls accepted after the warm-up; a call that has not ended has its age. The counts have all calls. */
export interface RunResult {
  accepted: number;
  ended: number;
  waiting: number;
  running: number;
  refused: number;
  /** Calls per second that ended after the warm-up. */
  throughput: number;
  latencies: number[];
  quietLatencies: number[];
  /** Of the calls of quiet tenants after the warm-up. */
  quietOffered: number;
  quietRefused: number;
  /** Share of the measured calls that found their skill warm. */
  warmShare: number;
  /** Jain's index of what each tenant got of its fair share: 1 is fair. */
  fairness: number;
}
