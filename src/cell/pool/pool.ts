/**
 * Provides a cell for each call: a pre-started one, a fork of a zygote in a burst, or a cold start. Every instance serves
 * one call and is then discarded.
 *
 * @module
 */
import { availableParallelism, totalmem } from 'node:os';
import { SkillError } from '../../errors.ts';
import type { CellParts, CellReport, Job, OpenBroker, OpenGateway, OpenSkills } from '../contract.ts';
import { DepthGates, Gate } from './gate.ts';
import { Keeper, type Kept } from './keeper.ts';
import { callOnce, SingleUsePool } from './single-use.ts';
import { callWarmOnce } from '../protocol/start-warm.ts';
import { ReusablePool } from './reusable.ts';
import { Spares } from './spares.ts';

const MIB = 1024 * 1024;
/** Of the machine's memory, for cells that wait. */
const SHARE_OF_MEMORY = 1 / 8;
const LEAST_MEMORY = 256 * MIB;
const MOST_MEMORY = 1024 * MIB;
/** Reading how much memory processes hold takes about as long as a call. */
const WEIGH_MS = 1000;

export interface PoolOptions {
  /** Pre-started cells per skill and grant; 0 starts every cell cold. */
  size?: number;
  /** What to keep ready: single-use cells, which answer fastest, or one zygote per skill, which needs least memory. */
  ready?: 'cells' | 'zygote';
  /** Memory in bytes for cells that wait, of all skills. When there is not enough, the cells end whose next start costs least. */
  maxMemory?: number;
  /** Pre-started cells across all skills; the same ones end. */
  maxStandby?: number;
  /** `wasm` processes that start before it is known for which skill, per kind; only while many skills need new processes. */
  spares?: number;
  /** How long idle cells are kept. */
  idleMs?: number;
  maxConcurrent?: number;
  maxQueue?: number;
}

/** Acts on behalf of cells, which hold no authority: a broker for Wasm cells, a gateway and calls of skills for native cells. */
export interface Authority {
  openBroker: OpenBroker;
  openGateway: OpenGateway;
  openSkills: OpenSkills;
}

/** The cells of one skill and grant. */
export interface CellSource extends Kept {
  call(job: Job): Promise<CellReport>;
  /** Starts cells ahead of the first call, and waits until they are ready. */
  warm(): Promise<void>;
  close(): void;
}

export class Pool {
  readonly #options: Required<PoolOptions>;
  readonly #authority: Authority;
  readonly #gates: DepthGates;
  /** Starting a process keeps a core busy in the kernel, so starts may use half of the cores, but two fill the pauses of one. */
  readonly #starts: Gate;
  readonly #sources = new Keeper<CellSource>();
  readonly #spares: Spares;
  #weighedAt = 0;
  #closed = false;

  constructor(home: string, authority: Authority, options: PoolOptions = {}) {
    const cores = availableParallelism();
    this.#authority = authority;
    this.#options = {
      size: 2,
      ready: 'cells',
      maxMemory: Math.min(MOST_MEMORY, Math.max(LEAST_MEMORY, totalmem() * SHARE_OF_MEMORY)),
      maxStandby: 512,
      spares: 2,
      idleMs: 300_000,
      maxConcurrent: Math.max(4, cores * 4),
      maxQueue: 256,
      ...options,
    };
    this.#gates = new DepthGates(this.#options);
    this.#spares = new Spares({ home, most: this.#options.spares });
    const maxStarts = Math.max(Math.min(2, cores), Math.floor(cores / 2));
    this.#starts = new Gate({ maxConcurrent: maxStarts, maxQueue: Number.POSITIVE_INFINITY });
  }

  async run(place: CellParts, job: Job): Promise<CellReport> {
    const { depth, failed, signal, tree } = job;
    const run = (): Promise<CellReport> => this.#run(place, job);
    return this.#gates.at(depth).run(() => (failed ? Promise.race([run(), failed]) : run()), signal, tree);
  }

  async #run(place: CellParts, job: Job): Promise<CellReport> {
    this.#assertOpen();
    job.onTurn?.();
    const { wall, engine, artifact, grant } = place;
    if (wall.name === 'none' && engine.callInHost) return engine.callInHost(artifact, grant, job);
    if (this.#options.size > 0) return this.#source(place).call(job);
    return place.engine.reusable
      ? callWarmOnce({ ...place, ...this.#authority }, job)
      : callOnce({ ...place, ...this.#authority }, job);
  }

  /** Starts cells for a skill ahead of its first call, and waits until they are ready. */
  async warm(place: CellParts): Promise<void> {
    if (this.#options.size > 0 && place.wall.name !== 'none') await this.#source(place).warm();
  }

  close(): void {
    this.#closed = true;
    for (const source of this.#sources.values) source.close();
    this.#sources.clear();
    this.#spares.close();
  }

  #source(place: CellParts): CellSource {
    this.#assertOpen();
    const { wall, artifact, grant, owner } = place;
    const { bundle, engine, uses, settings } = artifact;
    // A process that served one tenant never serves another, even if both have the same grant.
    const key = JSON.stringify([owner, wall.name, bundle.digest, engine, uses, settings, grant]);
    const source = this.#sources.get(key) ?? this.#open(place, key);
    this.#sources.use(key);
    this.#makeRoom();
    return source;
  }

  #open(place: CellParts, key: string): CellSource {
    const source = this.#newSource(place, key);
    this.#sources.set(key, source);
    return source;
  }

  #newSource(place: CellParts, key: string): CellSource {
    const options = {
      ...this.#options,
      starts: this.#starts,
      onIdle: () => this.#drop(key),
      assertOpen: () => this.#assertOpen(),
      takeSpare: this.#spares.take.bind(this.#spares),
    };
    const placed = { ...place, ...this.#authority };
    return place.engine.reusable ? new ReusablePool(placed, options) : new SingleUsePool(placed, options);
  }

  #makeRoom(): void {
    const { size, maxStandby, maxMemory } = this.#options;
    const most = Math.max(1, Math.floor(maxStandby / size));
    this.#dropWhile(() => this.#sources.size > most);
    const now = performance.now();
    if (now - this.#weighedAt < WEIGH_MS) return;
    this.#weighedAt = now;
    let bytes = this.#sources.bytes + this.#spares.bytes;
    this.#dropWhile((dropped) => (bytes -= dropped) > maxMemory);
  }

  /** Drops the worst source as long as `isTooMuch`, which gets the memory of the one dropped before. */
  #dropWhile(isTooMuch: (droppedBytes: number) => boolean): void {
    let dropped = 0;
    while (isTooMuch(dropped)) {
      const worst = this.#sources.worst();
      if (worst === undefined) return;
      dropped = this.#sources.get(worst)?.bytes ?? 0;
      this.#drop(worst);
    }
  }

  #drop(key: string): void {
    this.#sources.get(key)?.close();
    this.#sources.delete(key);
  }

  #assertOpen(): void {
    if (!this.#closed) return;
    throw new SkillError('usage', 'The runtime is closed', {
      fix: 'Make the call before close(), or create a new runtime.',
    });
  }
}
