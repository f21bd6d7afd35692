/**
 * Where the next cell comes from: a pre-started one, a fork of a zygote in a burst, or a cold start.
 * Whatever the source, a cell serves one call and is thrown away.
 *
 * @module
 */
import { availableParallelism } from 'node:os';
import type { Grant } from '../policy/grant.ts';
import type { Artifact, CellReport, Engine, Wall } from './contract.ts';
import { Gate } from './gate.ts';
import { Session } from './session.ts';
import { Standby } from './standby.ts';

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

export interface Job {
  wall: Wall;
  engine: Engine;
  artifact: Artifact;
  grant: Grant;
  params: unknown;
  signal?: AbortSignal | undefined;
}

export type Place = Pick<Job, 'wall' | 'engine' | 'artifact' | 'grant'>;

export class Pool {
  readonly #options: Required<PoolOptions>;
  readonly #gate: Gate;
  /** In order of use: the first is the least recently used. */
  readonly #standbys = new Map<string, Standby>();

  constructor(options: PoolOptions = {}) {
    const cores = availableParallelism();
    this.#options = {
      size: 2,
      ready: 'cells',
      maxStandby: Math.max(8, cores * 4),
      idleMs: 60_000,
      maxConcurrent: Math.max(4, cores * 4),
      maxQueue: 256,
      ...options,
    };
    this.#gate = new Gate(this.#options);
  }

  run(job: Job): Promise<CellReport> {
    return this.#gate.through(async () => {
      const session = await this.#open(job);
      return session.call(job.params, job.signal);
    });
  }

  /** Starts cells for a skill ahead of its first call, and waits until they are ready. */
  async warm(place: Place): Promise<void> {
    await this.#standby(place)?.warm();
  }

  close(): void {
    for (const standby of this.#standbys.values()) standby.close();
    this.#standbys.clear();
  }

  async #open(job: Job): Promise<Session> {
    return (await this.#standby(job)?.take()) ?? startCold(job);
  }

  #standby(place: Place): Standby | undefined {
    if (this.#options.size === 0) return undefined;
    const key = `${place.artifact.bundle.digest} ${place.artifact.engine} ${JSON.stringify(place.grant)}`;
    const known = this.#standbys.get(key);
    const standby = known ?? new Standby(place, { ...this.#options, onIdle: () => this.#drop(key) });
    this.#standbys.delete(key);
    this.#standbys.set(key, standby);
    this.#makeRoom();
    return standby;
  }

  #makeRoom(): void {
    const { size, maxStandby } = this.#options;
    const most = Math.max(1, Math.floor(maxStandby / size));
    for (const key of this.#standbys.keys()) {
      if (this.#standbys.size <= most) return;
      this.#drop(key);
    }
  }

  #drop(key: string): void {
    this.#standbys.get(key)?.close();
    this.#standbys.delete(key);
  }
}

function startCold({ wall, artifact, grant }: Place): Session {
  const process = wall.launch(artifact.spec, grant);
  return new Session({ process, artifact, grant, start: 'cold', preload: false });
}
