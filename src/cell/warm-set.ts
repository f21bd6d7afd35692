/**
 * The warm processes of one skill and grant. Each serves one call at a time; a call waits when all are busy.
 *
 * @module
 */
import { availableParallelism } from 'node:os';
import type { Grant } from '../policy/grant.ts';
import type { CellReport, OpenBroker } from './contract.ts';
import type { CellSource, Job, Place } from './pool.ts';
import { WarmCell } from './warm-cell.ts';

const MIB = 1024 * 1024;
/** What a Node process needs beside the memory of its guest. */
const PROCESS_BYTES = 256 * MIB;
const FOREVER_MS = 3_600_000;
/** A process is replaced after so many calls, whatever it looks like. */
const CALLS_PER_PROCESS = 20_000;

export interface WarmPlace extends Place {
  openBroker: OpenBroker;
}

export interface WarmSetOptions {
  idleMs: number;
  onIdle: () => void;
}

export class WarmSet implements CellSource {
  readonly #place: WarmPlace;
  readonly #options: WarmSetOptions;
  readonly #most = Math.max(2, availableParallelism());
  readonly #waiting: ((cell: WarmCell) => void)[] = [];
  readonly #cells = new Map<WarmCell, number>();
  #idle: WarmCell[] = [];
  #closed = false;
  #idleTimer: NodeJS.Timeout | undefined;

  constructor(place: WarmPlace, options: WarmSetOptions) {
    this.#place = place;
    this.#options = options;
    this.#touch();
  }

  async call({ params, signal }: Job): Promise<CellReport> {
    this.#touch();
    const cell = this.#take() ?? (await new Promise<WarmCell>((resolve) => this.#waiting.push(resolve)));
    try {
      return await cell.call(params, signal);
    } finally {
      this.#giveBack(cell);
    }
  }

  async warm(): Promise<void> {
    if (this.#cells.size > 0) return;
    const cell = this.#start();
    await cell.ready;
    this.#idle.push(cell);
  }

  /** Running calls are left to finish; their processes end with them. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#idleTimer);
    for (const cell of this.#idle.splice(0)) this.#retire(cell);
  }

  #take(): WarmCell | undefined {
    for (let cell = this.#idle.pop(); cell; cell = this.#idle.pop()) {
      if (!cell.isDead) return cell;
      this.#cells.delete(cell);
    }
    return this.#cells.size < this.#most ? this.#start() : undefined;
  }

  #giveBack(cell: WarmCell): void {
    const calls = (this.#cells.get(cell) ?? 0) + 1;
    if (cell.isDead || this.#closed || calls >= CALLS_PER_PROCESS) this.#retire(cell);
    else this.#cells.set(cell, calls);
    const next = this.#waiting.shift();
    if (next) next(this.#cells.has(cell) ? cell : this.#start());
    else if (this.#cells.has(cell)) this.#idle.push(cell);
  }

  #retire(cell: WarmCell): void {
    this.#cells.delete(cell);
    cell.close();
  }

  #start(): WarmCell {
    const cell = startWarm(this.#place);
    this.#cells.set(cell, 0);
    return cell;
  }

  #touch(): void {
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(this.#options.onIdle, this.#options.idleMs).unref();
  }
}

/** One call in a process of its own, without anything kept. */
export async function callWarmOnce(place: WarmPlace, { params, signal }: Job): Promise<CellReport> {
  const cell = startWarm(place);
  try {
    return await cell.call(params, signal);
  } finally {
    cell.close();
  }
}

function startWarm({ wall, artifact, grant, openBroker }: WarmPlace): WarmCell {
  const process = wall.launch(artifact.spec(grant), processGrant(grant));
  return new WarmCell({ process, artifact, grant, openBroker });
}

/** The process outlives the call, and reaches files and hosts only through the broker. */
function processGrant(grant: Grant): Grant {
  const limits = {
    ...grant.limits,
    timeout: FOREVER_MS,
    cpu: FOREVER_MS,
    memory: grant.limits.memory + PROCESS_BYTES,
  };
  return { ...grant, filesystem: [], network: [], env: {}, limits: { ...limits, processes: 0 } };
}
