/**
 * How much of a machine one part may take: all calls together, those of one tenant, those of one skill.
 *
 * @module
 */
import { availableParallelism } from 'node:os';

/** So many calls in so much time. */
export interface Rate {
  calls: number;
  /** In milliseconds. Time that was not used is kept, up to `calls`. */
  per: number;
}

export interface LaneLimits {
  /** Calls at once. */
  concurrent: number;
  /** Calls that may wait. */
  queue: number;
  /** Absent: as many as there is room for. */
  rate?: Rate | undefined;
}

/** Every key is optional. */
export interface DispatchOptions {
  /** Over all tenants and skills; absent: as the pool of a runtime. */
  all?: Partial<LaneLimits>;
  /** For each tenant, or by its name, asked for every call; absent: half of the places, an eighth of the queue. */
  tenant?: Partial<LaneLimits> | ((tenant: string) => Partial<LaneLimits>);
  /** For each skill, or by its name, asked for every call; absent: all places but one, half of the queue. */
  skill?: Partial<LaneLimits> | ((skill: string) => Partial<LaneLimits>);
  /** Milliseconds of a clock that only goes forward. */
  now?: () => number;
}

export interface LimitTable {
  all: LaneLimits;
  tenant: (name: string) => LaneLimits;
  skill: (name: string) => LaneLimits;
}

const QUEUE = 256;

/** No tenant alone can take all places, and no skill can. */
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
