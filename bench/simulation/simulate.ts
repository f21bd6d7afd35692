/**
 * A discrete-event simulation of a fleet: calls arrive, wait in the queues of a design, and keep a place on a worker for a
 * measured time. Knows neither clocks nor networks, so the same seed gives the same result.
 *
 * @module
 */
import { EventHeap } from './event-heap.ts';
import { fairnessOf } from './fairness.ts';
import { buildFleet, type Call, type Fleet, type Queue, type Worker } from './fleet.ts';
import type { Run, RunResult } from './model.ts';
import { exponential, seeded, type Random } from './random.ts';

/** How many warm workers a call tries. */
const TRIES = 32;

interface End {
  worker: Worker;
  queue: Queue;
  call: Call;
}

export function simulate(run: Run): RunResult {
  return new Simulation(run).result();
}

class Simulation {
  readonly #run: Run;
  readonly #fleet: Fleet;
  readonly #random: Random;
  readonly #ends = new EventHeap<End>();
  /** Calls of each tenant that wait or run. */
  readonly #held: number[];
  readonly #asked: number[];
  readonly #got: number[];
  /** Workers where the skill of a tenant is warm. */
  readonly #warmAt = new Map<number, Set<Worker>>();
  readonly #latencies: number[] = [];
  readonly #quietLatencies: number[] = [];
  readonly #counts = { accepted: 0, ended: 0, waiting: 0, running: 0, refused: 0 };
  readonly #measured = { ended: 0, begun: 0, warm: 0, quietOffered: 0, quietRefused: 0 };

  constructor(run: Run) {
    this.#run = run;
    this.#fleet = buildFleet(run);
    this.#random = seeded(run.seed);
    const none = (): number[] => Array.from({ length: run.load.tenants }, () => 0);
    [this.#held, this.#asked, this.#got] = [none(), none(), none()];
  }

  result(): RunResult {
    const { warmUpMs, measuredMs } = this.#run;
    const until = warmUpMs + measuredMs;
    let arrival = this.#nextArrival(0);
    while (arrival < until) {
      this.#endUntil(arrival);
      this.#arrive(arrival);
      arrival = this.#nextArrival(arrival);
    }
    this.#endUntil(until);
    this.#observeUnended(until);
    const { ended, begun, warm, quietOffered, quietRefused } = this.#measured;
    return {
      ...this.#counts,
      ...{ quietOffered, quietRefused },
      latencies: this.#latencies,
      quietLatencies: this.#quietLatencies,
      throughput: (ended / measuredMs) * 1000,
      warmShare: begun === 0 ? 0 : warm / begun,
      fairness: fairnessOf(this.#asked, this.#got),
    };
  }

  /** Left out, the slowest calls would make a design look fast. */
  #observeUnended(now: number): void {
    const waiting = this.#fleet.queues.flatMap(({ calls }) => calls.items);
    for (const call of [...waiting, ...this.#ends.events.map((end) => end.call)]) this.#observe(call, now);
  }

  #observe({ tenant, at }: Call, now: number): void {
    if (at < this.#run.warmUpMs) return;
    this.#latencies.push(now - at);
    if (tenant >= this.#run.load.floods) this.#quietLatencies.push(now - at);
  }

  #nextArrival(now: number): number {
    const { quietRate, floodRate } = this.#run.load;
    return now + exponential(this.#random, 1000 / (quietRate + floodRate));
  }

  #arrive(at: number): void {
    const { load, queue: mostHeld, queueOfAll, design } = this.#run;
    const tenant = this.#caller();
    const isMeasured = at >= this.#run.warmUpMs;
    const isQuiet = tenant >= load.floods;
    if (isMeasured) this.#asked[tenant] = (this.#asked[tenant] ?? 0) + 1;
    if (isMeasured && isQuiet) this.#measured.quietOffered++;
    const held = this.#held[tenant] ?? 0;
    if (held >= mostHeld || this.#counts.waiting + this.#counts.running >= queueOfAll) {
      this.#counts.refused++;
      if (isMeasured && isQuiet) this.#measured.quietRefused++;
      return;
    }
    this.#held[tenant] = held + 1;
    this.#counts.accepted++;
    this.#counts.waiting++;
    const queue = this.#fleet.queueOf(tenant);
    queue.calls.push({ tenant, at });
    if (!queue.isOpen) return;
    const worker = (design.prefersWarm ? this.#warmWorker(tenant) : undefined) ?? this.#freeWorker(queue);
    // With a free worker, nothing else waits there.
    if (worker) this.#begin(queue, worker, at);
    else for (const lane of queue.lanes) lane.list(queue);
  }

  /** Independent Poisson arrivals of all tenants are one Poisson process whose callers are drawn. */
  #caller(): number {
    const { tenants, floods, quietRate, floodRate } = this.#run.load;
    const isFlood = this.#random() * (quietRate + floodRate) < floodRate;
    const among = isFlood ? floods : tenants - floods;
    return Math.floor(this.#random() * among) + (isFlood ? 0 : floods);
  }

  #freeWorker(queue: Queue): Worker | undefined {
    const { lanes } = queue;
    const from = Math.floor(this.#random() * lanes.length);
    for (let step = 0; step < lanes.length; step++) {
      const worker = lanes[(from + step) % lanes.length]?.anyFree(this.#random);
      if (worker) return worker;
    }
    return undefined;
  }

  #warmWorker(tenant: number): Worker | undefined {
    let tries = 0;
    for (const worker of this.#warmAt.get(tenant) ?? []) {
      if (worker.lane.isFree(worker)) return worker;
      if (++tries >= TRIES) return undefined;
    }
    return undefined;
  }

  #begin(queue: Queue, worker: Worker, now: number): void {
    const call = queue.calls.take();
    if (!call) return;
    queue.running++;
    this.#counts.waiting--;
    this.#counts.running++;
    worker.free--;
    worker.lane.setFree(worker, worker.free > 0);
    const isWarm = worker.warm.has(call.tenant);
    if (now >= this.#run.warmUpMs) {
      this.#measured.begun++;
      if (isWarm) this.#measured.warm++;
    }
    this.#warm(worker, call.tenant);
    this.#ends.push(now + this.#run.service(isWarm, this.#random), { worker, queue, call });
    // Others of this queue may wait, for this worker or one that is not free yet.
    if (queue.isOpen) for (const lane of queue.lanes) lane.list(queue);
  }

  #warm(worker: Worker, tenant: number): void {
    const gone = worker.warm.use(tenant);
    if (!this.#run.design.prefersWarm) return;
    if (gone !== undefined) this.#warmAt.get(gone)?.delete(worker);
    const places = this.#warmAt.get(tenant) ?? new Set();
    this.#warmAt.set(tenant, places.add(worker));
  }

  #endUntil(time: number): void {
    while (this.#ends.nextAt <= time) {
      const next = this.#ends.pop();
      if (next) this.#end(next.event, next.at);
    }
  }

  #end({ worker, queue, call }: End, now: number): void {
    const { tenant } = call;
    const wasFull = queue.running >= queue.limit;
    queue.running--;
    worker.free++;
    this.#counts.running--;
    this.#counts.ended++;
    this.#held[tenant] = (this.#held[tenant] ?? 0) - 1;
    if (now >= this.#run.warmUpMs) {
      this.#measured.ended++;
      this.#got[tenant] = (this.#got[tenant] ?? 0) + 1;
    }
    this.#observe(call, now);
    worker.lane.setFree(worker, true);
    if (wasFull && queue.isOpen) for (const lane of queue.lanes) lane.list(queue);
    const waiting = worker.lane.next(worker, this.#run.design.prefersWarm ?? false);
    if (waiting) this.#begin(waiting, worker, now);
  }
}
