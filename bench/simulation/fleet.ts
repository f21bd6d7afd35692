/**
 * The workers of a simulated fleet and the queues that they take calls from.
 *
 * @module
 */
import type { Run } from './model.ts';
import { Fifo, WarmSkills } from './queues.ts';
import type { Random } from './random.ts';

/** How many queues a worker looks at to find a warm skill, and how often a call can be passed over for one. */
const LOOK = 8;

export interface Call {
  tenant: number;
  at: number;
}

/** A queue of calls: that of a tenant, or one that several share. */
export class Queue {
  readonly calls: Fifo<Call> = new Fifo();
  readonly lanes: readonly Lane[];
  readonly limit: number;
  running = 0;
  /** How often a warm call behind it was preferred. */
  passedOver = 0;

  constructor(lanes: readonly Lane[], limit: number) {
    this.lanes = lanes;
    this.limit = limit;
  }

  get isOpen(): boolean {
    return this.calls.size > 0 && this.running < this.limit;
  }
}

export interface Worker {
  lane: Lane;
  free: number;
  warm: WarmSkills;
}

/** Workers that serve the same queues in turn. */
export class Lane {
  readonly turns: Fifo<Queue> = new Fifo();
  /** Workers with a free place, and where each is in that list. */
  readonly #free: Worker[] = [];
  readonly #placeOf = new Map<Worker, number>();
  readonly #listed = new Set<Queue>();

  list(queue: Queue): void {
    if (this.#listed.has(queue)) return;
    this.#listed.add(queue);
    this.turns.push(queue);
  }

  /** The next queue with a call, or one soon after it whose call is warm on this worker. */
  next(worker: Worker, prefersWarm: boolean): Queue | undefined {
    this.#dropClosed();
    const first = this.turns.peek();
    if (!first) return undefined;
    const chosen = prefersWarm && first.passedOver < LOOK ? this.#warmPlace(worker) : 0;
    if (chosen > 0) first.passedOver++;
    else first.passedOver = 0;
    const queue = this.turns.take(chosen);
    if (queue) this.#listed.delete(queue);
    return queue;
  }

  #warmPlace(worker: Worker): number {
    for (let at = 0; at < Math.min(LOOK, this.turns.size); at++) {
      const queue = this.turns.peek(at);
      const call = queue?.isOpen ? queue.calls.peek() : undefined;
      if (call && worker.warm.has(call.tenant)) return at;
    }
    return 0;
  }

  #dropClosed(): void {
    for (let first = this.turns.peek(); first && !first.isOpen; first = this.turns.peek()) {
      this.turns.take();
      this.#listed.delete(first);
    }
  }

  setFree(worker: Worker, isFree: boolean): void {
    const place = this.#placeOf.get(worker);
    if (isFree === (place !== undefined)) return;
    if (place === undefined) {
      this.#placeOf.set(worker, this.#free.length);
      this.#free.push(worker);
      return;
    }
    const last = this.#free.pop();
    this.#placeOf.delete(worker);
    if (!last || last === worker) return;
    this.#free[place] = last;
    this.#placeOf.set(last, place);
  }

  isFree(worker: Worker): boolean {
    return this.#placeOf.has(worker);
  }

  anyFree(random: Random): Worker | undefined {
    return this.#free[Math.floor(random() * this.#free.length)];
  }
}

export interface Fleet {
  workers: Worker[];
  queues: Queue[];
  queueOf: (tenant: number) => Queue;
}

export function buildFleet({ workers: count, slots, warmPlaces, design, load, concurrent }: Run): Fleet {
  const { queues: shared, workersPerTenant } = design;
  const common = new Lane();
  const workers = Array.from({ length: count }, () => {
    const lane = workersPerTenant === undefined ? common : new Lane();
    return { lane, free: slots, warm: new WarmSkills(warmPlaces) };
  });
  for (const worker of workers) worker.lane.setFree(worker, true);
  const lanesOf = (tenant: number): Lane[] =>
    workersPerTenant === undefined
      ? [common]
      : placesOf(tenant, { count, wanted: workersPerTenant }).flatMap((at) => workers[at]?.lane ?? []);
  const limit = shared === undefined ? concurrent : Number.POSITIVE_INFINITY;
  const queues = Array.from({ length: shared ?? load.tenants }, (_, at) => new Queue(lanesOf(at), limit));
  const queueOf = (tenant: number): Queue => {
    const queue = queues[shared === undefined ? tenant : scattered(tenant) % shared];
    if (!queue) throw new Error(`There is no queue for tenant ${tenant}`);
    return queue;
  };
  return { workers, queues, queueOf };
}

/** The workers of a tenant, by a hash, so that each front end and worker finds the same ones. */
function placesOf(tenant: number, { count, wanted }: { count: number; wanted: number }): number[] {
  const places = new Set<number>();
  for (let attempt = 0; places.size < Math.min(wanted, count); attempt++)
    places.add(scattered(tenant * 1009 + attempt) % count);
  return [...places];
}

function scattered(value: number): number {
  let mixed = Math.imul(value + 1, 0x9e_37_79_b1);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x85_eb_ca_6b);
  return (mixed ^ (mixed >>> 13)) >>> 0;
}
