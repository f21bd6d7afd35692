/**
 * Back-pressure for front ends that serve many: whose call is next. A call that cannot wait is refused at once, before
 * anything is done for it; those that wait are taken from one tenant after the other, so that none starves another.
 *
 * @module
 */
import { cancelled } from '../cell/judge.ts';
import { SkillError } from '../errors.ts';
import { Lane } from './lane.ts';
import { limitTable, type DispatchOptions, type LimitTable } from './limits.ts';

/** A call that wants its turn. */
export interface DispatchEntry {
  tenant: string;
  skill: string;
  /** Aborting it gives up the place in the queue. */
  signal?: AbortSignal | undefined;
}

/** A place. Whoever has it gives it back by disposing of it; `execute` does so with the `turn` it is given. */
export interface Turn extends Disposable {
  /** Whose it is: worker threads are shared by it, too. */
  readonly tenant: string;
}

/** How many calls have a place, and how many wait for one. */
export interface LaneLoad {
  running: number;
  waiting: number;
}

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

/** More lanes than this are looked through for those that can be forgotten: names come from strangers. */
const MANY_LANES = 1000;

/**
 * @example
 * ```ts
 * import { createRuntime, Dispatcher } from 'skillcell';
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
  /** By tenant; the first has waited longest for its turn. */
  readonly #queues = new Map<string, Waiter[]>();
  #closed: PromiseWithResolvers<void> | undefined;

  constructor(options: DispatchOptions = {}) {
    this.#now = options.now ?? (() => performance.now());
    this.#limits = limitTable(options);
    this.#all = new Lane(this.#limits.all, this.#now());
  }

  /** Resolves when it is the call's turn. Throws at once if it cannot even wait. */
  enter(entry: DispatchEntry): Promise<Turn> {
    if (this.#closed) throw closing();
    // By the promise: the call is still one, and gets its receipt.
    if (entry.signal?.aborted) return Promise.reject(cancelled());
    const lanes = this.#lanesOf(entry);
    const hasRoom = Object.values(lanes).every((lane: Lane) => lane.hasRoom);
    if (!hasRoom) assertQueue(lanes, entry);
    assertRate(lanes, entry, this.#now());
    for (const lane of Object.values(lanes)) lane.count(this.#now());
    return hasRoom ? Promise.resolve(this.#start(entry.tenant, lanes)) : this.#wait(entry, lanes);
  }

  get load(): DispatchLoad {
    return { ...loadOf(this.#all), tenants: loadsOf(this.#tenants), skills: loadsOf(this.#skills) };
  }

  /** Lets nobody in any more; resolves when all who have or wait for a place are done. */
  drain(): Promise<void> {
    this.#closed ??= Promise.withResolvers<void>();
    this.#settle();
    return this.#closed.promise;
  }

  #lanesOf({ tenant, skill }: DispatchEntry): Lanes {
    return {
      all: this.#all,
      tenant: this.#laneOf(this.#tenants, tenant, this.#limits.tenant),
      skill: this.#laneOf(this.#skills, skill, this.#limits.skill),
    };
  }

  #laneOf(lanes: Map<string, Lane>, name: string, limits: LimitTable['tenant']): Lane {
    const known = lanes.get(name);
    known?.adjust(limits(name), this.#now());
    if (known) return known;
    if (lanes.size >= MANY_LANES) forgetIdle(lanes, this.#now());
    const lane = new Lane(limits(name), this.#now());
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

  /** Of the tenant that has waited longest, the first call whose lanes have room; the tenant goes to the end. */
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
    throw busy(reason, { scope, concurrent, queue, retry_after_ms: lane.likelyPause() });
  }
}

function assertRate(lanes: Lanes, entry: DispatchEntry, now: number): void {
  for (const scope of ['all', 'tenant', 'skill'] as const) {
    const { rate } = lanes[scope].limits;
    const pause = lanes[scope].pause(now);
    if (!rate || pause === 0) continue;
    const reason = `more than ${rate.calls} in ${rate.per / 1000} s${wordsFor(scope, entry)}`;
    throw busy(reason, { scope, rate, retry_after_ms: pause });
  }
}

function wordsFor(scope: Scope, { tenant, skill }: DispatchEntry): string {
  return { all: '', tenant: ` for "${tenant}"`, skill: ` for the skill "${skill}"` }[scope];
}

/** Known by `detail.limit` being `busy`, whoever refuses. */
function busy(reason: string, detail: Record<string, unknown> & { scope: Scope }): SkillError {
  return new SkillError('resource_exceeded', `Too many calls: ${reason}`, {
    fix: `Try again after ${detail['retry_after_ms'] as number} ms, or have the operator raise the limits.`,
    detail: { limit: 'busy', ...detail },
  });
}

function closing(): SkillError {
  return new SkillError('skill_unavailable', 'The service is shutting down and takes no more calls', {
    fix: 'Try again when it is back.',
    detail: { closing: true },
  });
}

function forgetIdle(lanes: Map<string, Lane>, now: number): void {
  for (const [name, lane] of lanes) if (lane.isForgettable(now)) lanes.delete(name);
}

function loadOf({ running, waiting }: Lane): LaneLoad {
  return { running, waiting };
}

function loadsOf(lanes: Map<string, Lane>): Record<string, LaneLoad> {
  const busyOnes = [...lanes].filter(([, lane]) => lane.running + lane.waiting > 0);
  return Object.fromEntries(busyOnes.map(([name, lane]) => [name, loadOf(lane)]));
}
