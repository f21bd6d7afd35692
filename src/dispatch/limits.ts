/**
 * Limits on all calls together, on those of one tenant, and on those of one skill.
 *
 * @module
 */
import { availableParallelism } from 'node:os';

/** A number of calls per period. */
export interface Rate {
  calls: number;
  /** The period in milliseconds. Unused calls accumulate up to `calls`. */
  per: number;
}

/** Limits of a tenant or a skill. */
export interface LaneLimits {
  /** Calls that may run at the same time. */
  concurrent: number;
  /** Calls that may wait. */
  queue: number;
  /** Absent: no rate limit. */
  rate?: Rate | undefined;
}

/** Options of a `Dispatcher`. Every key is optional. */
export interface DispatchOptions {
  /** For all calls together; absent: like the pool of a runtime. */
  all?: Partial<LaneLimits>;
  /** For each tenant. A function is called with its name for every call. Absent: half of the slots, an eighth of the queue. */
  tenant?: Partial<LaneLimits> | ((tenant: string) => Partial<LaneLimits>);
  /** For each skill. A function is called with its name for every call. Absent: all slots but one, half of the queue. */
  skill?: Partial<LaneLimits> | ((skill: string) => Partial<LaneLimits>);
  /** The limits of a skill hold for each tenant by itself, so that tenants cannot notice each other. */
  skillPerTenant?: boolean;
  /** A monotonic clock in milliseconds. */
  now?: () => number;
}

export interface LimitTable {
  all: LaneLimits;
  tenant: (name: string) => LaneLimits;
  skill: (name: string) => LaneLimits;
}

const QUEUE = 256;

/** By default, neither one tenant nor one skill can take all slots. */
export function limitTable({ all = {}, tenant = {}, skill = {} }: DispatchOptions): LimitTable {
  const whole = { concurrent: Math.max(4, availableParallelism() * 4), queue: QUEUE, ...all };
  const ofTenant = { concurrent: share(whole.concurrent, 2), queue: share(whole.queue, 8) };
  const ofSkill = { concurrent: Math.max(1, whole.concurrent - 1), queue: share(whole.queue, 2) };
  return {
    all: whole,
    tenant: (name) => ({ ...ofTenant, ...(typeof tenant === 'function' ? tenant(name) : tenant) }),
    skill: (name) => ({ ...ofSkill, ...(typeof skill === 'function' ? skill(name) : skill) }),
  };
}

function share(of: number, parts: number): number {
  return Math.max(1, Math.floor(of / parts));
}
