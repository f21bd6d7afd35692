/**
 * Provides a cell for each call: a pre-started one, a fork of a zygote in a burst, or a cold start. Every instance serves
 * one call and is then discarded.
 *
 * @module
 */
import { availableParallelism, totalmem } from 'node:os';
import { SkillError } from '../../errors.ts';
import type { CellParts, CellReport, Job, OpenBroker, OpenGateway } from '../contract.ts';
import { DepthGates, Gate } from './gate.ts';
import { callOnce, SingleUsePool } from './single-use.ts';
import { callWarmOnce } from '../protocol/start-warm.ts';
import { ReusablePool } from './reusable.ts';

/** Several times the memory of an idle cell: 5 MiB for native cells, 20 to 55 MiB for components (docs/operators.md). */
const MEMORY_PER_CELL = 256 * 1024 * 1024;

export interface PoolOptions {
  /** Pre-started cells per skill and grant; 0 starts every cell cold. */
  size?: number;
  /** What to keep ready: single-use cells, which answer fastest, or one zygote per skill, which needs least memory. */
  ready?: 'cells' | 'zygote';
  /** Pre-started cells across all skills; the least recently used skill is evicted. */
  maxStandby?: number;
  /** How long idle cells are kept. */
  idleMs?: number;
  maxConcurrent?: number;
  maxQueue?: number;
}

/** Acts on behalf of cells, which hold no authority: a broker for cells that send frames, a gateway for native cells. */
export interface Authority {
  openBroker: OpenBroker;
  openGateway: OpenGateway;
}

/** The cells of one skill and grant. */
export interface CellSource {
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
  /** In order of use: the first is the least recently used. */
  readonly #sources = new Map<string, CellSource>();
  #closed = false;

  constructor(authority: Authority, options: PoolOptions = {}) {
    const cores = availableParallelism();
    this.#authority = authority;
    this.#options = {
      size: 2,
      ready: 'cells',
      maxStandby: Math.min(64, Math.max(8, Math.floor(totalmem() / MEMORY_PER_CELL))),
      idleMs: 60_000,
      maxConcurrent: Math.max(4, cores * 4),
      maxQueue: 256,
      ...options,
    };
    this.#gates = new DepthGates(this.#options);
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
    for (const source of this.#sources.values()) source.close();
    this.#sources.clear();
  }

  #source(place: CellParts): CellSource {
    this.#assertOpen();
    const { wall, artifact, grant, owner } = place;
    const { bundle, engine, uses, settings } = artifact;
    // A process that served one tenant never serves another, even if both have the same grant.
    const key = JSON.stringify([owner, wall.name, bundle.digest, engine, uses, settings, grant]);
    const source = this.#sources.get(key) ?? this.#open(place, key);
    this.#sources.delete(key);
    this.#sources.set(key, source);
    this.#makeRoom();
    return source;
  }

  #open(place: CellParts, key: string): CellSource {
    const options = {
      ...this.#options,
      starts: this.#starts,
      onIdle: () => this.#drop(key),
      assertOpen: () => this.#assertOpen(),
    };
    const placed = { ...place, ...this.#authority };
    return place.engine.reusable ? new ReusablePool(placed, options) : new SingleUsePool(placed, options);
  }

  #makeRoom(): void {
    const { size, maxStandby } = this.#options;
    const most = Math.max(1, Math.floor(maxStandby / size));
    for (const key of this.#sources.keys()) {
      if (this.#sources.size <= most) return;
      this.#drop(key);
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
