/**
 * Where the next cell comes from: a pre-started one, a fork of a zygote in a burst, or a cold start.
 * Whatever the source, a cell serves one call and is thrown away.
 *
 * @module
 */
import { availableParallelism, totalmem } from 'node:os';
import { SkillError } from '../errors.ts';
import type { Grant } from '../policy/grant.ts';
import type { Artifact, CellReport, Engine, Job, OpenBroker, OpenGateway, Wall } from './contract.ts';
import { Gate } from './gate.ts';
import { callOnce, Standby } from './standby.ts';
import { callWarmOnce, WarmSet } from './warm-set.ts';

/** Several times of what a cell takes that waits: 5 MiB natively, 20 to 55 for components (docs/operators.md). */
const MEMORY_PER_CELL = 256 * 1024 * 1024;

export interface PoolOptions {
  /** Pre-started cells per skill and grant; 0 starts every cell cold. */
  size?: number;
  /** What is kept ready: single-use cells, which answer fastest, or one zygote per skill, which needs least memory. */
  ready?: 'cells' | 'zygote';
  /** Pre-started cells over all skills; the least recently used skill gives way. */
  maxStandby?: number;
  /** How long unused cells are kept. */
  idleMs?: number;
  maxConcurrent?: number;
  maxQueue?: number;
}

/** Where a call runs: everything that a cell is made from. */
export interface Place {
  wall: Wall;
  engine: Engine;
  artifact: Artifact;
  grant: Grant;
}

/** What holds authority for cells that have none: frames for those that ask by frames, a proxy for native ones. */
export interface Authority {
  openBroker: OpenBroker;
  openGateway: OpenGateway;
}

/** The cells of one place, however they are kept. */
export interface CellSource {
  call(job: Job): Promise<CellReport>;
  /** Starts cells ahead of the first call, and waits until they are ready. */
  warm(): Promise<void>;
  close(): void;
}

export class Pool {
  readonly #options: Required<PoolOptions>;
  readonly #authority: Authority;
  readonly #gate: Gate;
  /** Starting a process keeps the kernel busy, and a core with it: those that are started share half of them. */
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
    this.#gate = new Gate(this.#options);
    const atOnce = Math.max(1, Math.floor(cores / 2));
    this.#starts = new Gate({ maxConcurrent: atOnce, maxQueue: Number.POSITIVE_INFINITY });
  }

  run(place: Place, job: Job): Promise<CellReport> {
    const { failed, signal } = job;
    const run = (): Promise<CellReport> => this.#run(place, job);
    return this.#gate.through(() => (failed ? Promise.race([run(), failed]) : run()), signal);
  }

  async #run(place: Place, job: Job): Promise<CellReport> {
    this.#assertOpen();
    const { wall, engine, artifact, grant } = place;
    if (wall.name === 'none' && engine.callInHost) return engine.callInHost(artifact, grant, job);
    if (this.#options.size > 0) return this.#source(place).call(job);
    return place.engine.reusable
      ? callWarmOnce({ ...place, ...this.#authority }, job)
      : callOnce({ ...place, ...this.#authority }, job);
  }

  /** Starts cells for a skill ahead of its first call, and waits until they are ready. */
  async warm(place: Place): Promise<void> {
    if (this.#options.size > 0 && place.wall.name !== 'none') await this.#source(place).warm();
  }

  close(): void {
    this.#closed = true;
    for (const source of this.#sources.values()) source.close();
    this.#sources.clear();
  }

  #source(place: Place): CellSource {
    this.#assertOpen();
    const { wall, artifact, grant } = place;
    const key = JSON.stringify([wall.name, artifact.bundle.digest, artifact.engine, artifact.uses, grant]);
    const source = this.#sources.get(key) ?? this.#open(place, key);
    this.#sources.delete(key);
    this.#sources.set(key, source);
    this.#makeRoom();
    return source;
  }

  #open(place: Place, key: string): CellSource {
    const options = {
      ...this.#options,
      starts: this.#starts,
      onIdle: () => this.#drop(key),
      assertOpen: () => this.#assertOpen(),
    };
    const placed = { ...place, ...this.#authority };
    return place.engine.reusable ? new WarmSet(placed, options) : new Standby(placed, options);
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
      fix: 'Make the call before close(), or a new runtime.',
    });
  }
}
