/**
 * Back-pressure for front ends with many callers. If a queue is full, a call is rejected immediately, before any work is
 * done for it. Queued calls are taken from the tenants in turn, so that none starves another.
 *
 * @module
 */
import { cancelled } from '../cell/verdict/judge.ts';
import { SkillError } from '../errors.ts';
import { Lane } from './lane.ts';
import { limitTable, type DispatchOptions, type LaneLimits, type LimitTable } from './limits.ts';

/** A call that requests a turn. */
export interface DispatchEntry {
  tenant: string;
  skill: string;
  /** Aborting it removes the call from the queue. */
  signal?: AbortSignal | undefined;
}

/** A turn to make a call. Dispose of it to release it; `execute` does so with its `turn` option. */
export interface Turn extends Disposable {
  /** The tenant that the turn belongs to; worker threads are also shared by tenant. */
  readonly tenant: string;
}

/** Numbers of running and queued calls. */
export interface LaneLoad {
  running: number;
  waiting: number;
}

/** Load of a dispatcher: in total, per tenant and per skill. */
export interface DispatchLoad extends LaneLoad {
  tenants: Record<string, LaneLoad>;
  skills: Record<string, LaneLoad>;
}

type Scope = 'all' | 'tenant' | 'skill';

/** The lanes of one call. */
interface Lanes {
  all: Lane;
  tenant: Lane;
  skill: Lane;
}

interface Waiter {
  lanes: Lanes;
  start: () => void;
}

/** Beyond this number, idle lanes are removed, because clients choose the names. */
const MANY_LANES = 1000;

/**
 * Grants turns to calls of many tenants and skills.
 *
 * @example
 * ```ts
 * import { createRuntime } from 'skillcell';
 * import { Dispatcher } from 'skillcell/dispatch';
 *
 * await using runtime = createRuntime();
 * const dispatcher = new Dispatcher({ tenant: { concurrent: 2, queue: 10 } });
 * const turn = dispatcher.enter({ tenant: 'acme', skill: 'text/word_stats' });
 * await runtime.execute('text/word_stats', { text: 'To be' }, { turn });
 * ```
 */
export class Dispatcher {
  readonly #limits: LimitTable;
  readonly #now: () => number;
  readonly #all: Lane;
  readonly #tenants = new Map<string, Lane>();
  readonly #skills = new Map<string, Lane>();
  /** By tenant; the tenant that has waited longest comes first. */
  readonly #queues = new Map<string, Waiter[]>();
  #closed: PromiseWithResolvers<void> | undefined;
  readonly #skillPerTenant: boolean;

  constructor(options: DispatchOptions = {}) {
    this.#skillPerTenant = options.skillPerTenant ?? false;
    this.#now = options.now ?? (() => performance.now());
    this.#limits = limitTable(options);
    this.#all = new Lane(this.#limits.all, this.#now());
  }

  /** Resolves when the call has its turn. Throws immediately if a queue is full. */
  enter(entry: DispatchEntry): Promise<Turn> {
    if (this.#closed) throw closing();
    // Reject instead of throwing: the call still counts and gets its receipt.
    if (entry.signal?.aborted) return Promise.reject(cancelled());
    const lanes = this.#lanesOf(entry);
    const hasRoom = Object.values(lanes).every((lane: Lane) => lane.hasRoom);
    if (!hasRoom) assertQueue(lanes, entry);
    assertRate(lanes, entry, this.#now());
    for (const lane of Object.values(lanes)) lane.count(this.#now());
    return hasRoom ? Promise.resolve(this.#start(entry.tenant, lanes)) : this.#wait(entry, lanes);
  }

  /** Counts a call inside a call that has its turn, which needs no turn of its own. Throws if the rate allows no more. */
  charge(entry: Omit<DispatchEntry, 'signal'>): void {
    const lanes = this.#lanesOf(entry);
    assertRate(lanes, entry, this.#now());
    for (const lane of Object.values(lanes)) lane.count(this.#now());
  }

  get load(): DispatchLoad {
    return { ...loadOf(this.#all), tenants: loadsOf(this.#tenants), skills: loadsOf(this.#skills) };
  }

  /** Rejects new calls; resolves when all running and queued calls are done. */
  drain(): Promise<void> {
    this.#closed ??= Promise.withResolvers<void>();
    this.#settle();
    return this.#closed.promise;
  }

  #lanesOf({ tenant, skill }: DispatchEntry): Lanes {
    return {
      all: this.#all,
      tenant: this.#laneOf(this.#tenants, tenant, this.#limits.tenant(tenant)),
      skill: this.#laneOf(
        this.#skills,
        this.#skillPerTenant ? JSON.stringify([tenant, skill]) : skill,
        this.#limits.skill(skill),
      ),
    };
  }

  #laneOf(lanes: Map<string, Lane>, name: string, limits: LaneLimits): Lane {
    const known = lanes.get(name);
    known?.adjust(limits, this.#now());
    if (known) return known;
    if (lanes.size >= MANY_LANES) forgetIdle(lanes, this.#now());
    const lane = new Lane(limits, this.#now());
    lanes.set(name, lane);
    return lane;
  }

  #start(tenant: string, lanes: Lanes): Turn {
    const began = this.#now();
    let isHeld = true;
    for (const lane of Object.values(lanes)) lane.running++;
    return {
      tenant,
      [Symbol.dispose]: () => {
        if (!isHeld) return;
        isHeld = false;
        for (const lane of Object.values(lanes)) lane.leave(this.#now() - began);
        this.#startNext();
        this.#settle();
      },
    };
  }

  #wait({ tenant, signal }: DispatchEntry, lanes: Lanes): Promise<Turn> {
    const { promise, resolve, reject } = Promise.withResolvers<Turn>();
    const giveUp = (): void => {
      this.#remove(tenant, waiter);
      reject(cancelled());
      this.#settle();
    };
    const waiter: Waiter = {
      lanes,
      start: () => {
        signal?.removeEventListener('abort', giveUp);
        this.#remove(tenant, waiter);
        resolve(this.#start(tenant, lanes));
      },
    };
    for (const lane of Object.values(lanes)) lane.waiting++;
    this.#queues.set(tenant, [...(this.#queues.get(tenant) ?? []), waiter]);
    signal?.addEventListener('abort', giveUp, { once: true });
    return promise;
  }

  #remove(tenant: string, waiter: Waiter): void {
    const rest = this.#queues.get(tenant)?.filter((one) => one !== waiter) ?? [];
    if (rest.length > 0) this.#queues.set(tenant, rest);
    else this.#queues.delete(tenant);
    for (const lane of Object.values(waiter.lanes)) lane.waiting--;
  }

  #startNext(): void {
    for (let next = this.#next(); next; next = this.#next()) next.start();
  }

  /** The first call with room in its lanes, of the tenant that has waited longest; that tenant moves to the end. */
  #next(): Waiter | undefined {
    if (!this.#all.hasRoom) return undefined;
    for (const [tenant, queue] of this.#queues) {
      const next = queue.find(({ lanes }) => lanes.tenant.hasRoom && lanes.skill.hasRoom);
      if (!next) continue;
      this.#queues.delete(tenant);
      this.#queues.set(tenant, queue);
      return next;
    }
    return undefined;
  }

  #settle(): void {
    if (this.#closed && this.#all.running === 0 && this.#all.waiting === 0) this.#closed.resolve();
  }
}

function assertQueue(lanes: Lanes, entry: DispatchEntry): void {
  for (const scope of ['all', 'tenant', 'skill'] as const) {
    const lane = lanes[scope];
    if (lane.hasQueue) continue;
    const { concurrent, queue } = lane.limits;
    const reason = `${concurrent} are running and ${queue} are waiting${wordsFor(scope, entry)}`;
    throw busy(reason, { scope, concurrent, queue, retry_after_ms: lane.expectedWaitMs() });
  }
}

function assertRate(lanes: Lanes, entry: DispatchEntry, now: number): void {
  for (const scope of ['all', 'tenant', 'skill'] as const) {
    const { rate } = lanes[scope].limits;
    const pause = lanes[scope].waitMs(now);
    if (!rate || pause === 0) continue;
    const reason = `more than ${rate.calls} in ${rate.per / 1000} s${wordsFor(scope, entry)}`;
    throw busy(reason, { scope, rate, retry_after_ms: pause });
  }
}

function wordsFor(scope: Scope, { tenant, skill }: DispatchEntry): string {
  return { all: '', tenant: ` for "${tenant}"`, skill: ` for the skill "${skill}"` }[scope];
}

/** All such errors have `detail.limit` set to `busy`. */
function busy(reason: string, detail: Record<string, unknown> & { scope: Scope }): SkillError {
  return new SkillError('resource_exceeded', `Too many calls: ${reason}`, {
    fix: `Try again after ${detail['retry_after_ms'] as number} ms, or ask the operator to raise the limits.`,
    detail: { limit: 'busy', ...detail },
  });
}

function closing(): SkillError {
  return new SkillError('skill_unavailable', 'The service is shutting down and accepts no more calls', {
    fix: 'Try again after the service has restarted.',
    detail: { closing: true },
  });
}

function forgetIdle(lanes: Map<string, Lane>, now: number): void {
  for (const [name, lane] of lanes) if (lane.isIdle(now)) lanes.delete(name);
}

function loadOf({ running, waiting }: Lane): LaneLoad {
  return { running, waiting };
}

function loadsOf(lanes: Map<string, Lane>): Record<string, LaneLoad> {
  const busyOnes = [...lanes].filter(([, lane]) => lane.running + lane.waiting > 0);
  return Object.fromEntries(busyOnes.map(([name, lane]) => [name, loadOf(lane)]));
}
