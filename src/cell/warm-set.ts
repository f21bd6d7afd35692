/**
 * The warm processes of one skill and grant. Each serves one call at a time; a call waits when all are busy.
 *
 * @module
 */
import { availableParallelism } from 'node:os';
import { owningItself } from '../fault-owner.ts';
import type { Grant } from '../policy/grant.ts';
import type { CellReport, Job, OpenBroker } from './contract.ts';
import type { CellSource, Place } from './pool.ts';
import { makePlaceholders } from './placeholders.ts';
import { WarmCell } from './warm-cell.ts';

const MIB = 1024 * 1024;
/** What a Node process needs beside the memory of its guest. */
const PROCESS_BYTES = 256 * MIB;
const FOREVER_MS = 3_600_000;
/** A process is replaced after so many calls, whatever it looks like. */
const CALLS_PER_PROCESS = 20_000;
/** A call that comes within so much time after a reply is one in a row. */
const IN_A_ROW_MS = 10;
/** A second process that takes turns costs a second of CPU time to start, so a row has to be long. */
const LONG_ROW = 50;

export interface WarmPlace extends Place {
  openBroker: OpenBroker;
}

export interface WarmSetOptions {
  idleMs: number;
  onIdle: () => void;
  /** Throws when no process may be started any more. */
  assertOpen: () => void;
}

/** Gets a process that has just become free, or undefined: there is room for a new one. */
type Waiter = (cell: WarmCell | undefined) => void;

export class WarmSet implements CellSource {
  readonly #place: WarmPlace;
  readonly #options: WarmSetOptions;
  readonly #most = Math.max(2, availableParallelism());
  readonly #waiting: Waiter[] = [];
  readonly #cells = new Set<WarmCell>();
  readonly #idleTimer: NodeJS.Timeout;
  #idle: WarmCell[] = [];
  #lastReply = 0;
  #inARow = 0;
  #closed = false;

  constructor(place: WarmPlace, options: WarmSetOptions) {
    this.#place = place;
    this.#options = options;
    this.#idleTimer = setTimeout(options.onIdle, options.idleMs).unref();
  }

  async call(job: Job): Promise<CellReport> {
    const { signal } = job;
    if (!this.#closed) this.#idleTimer.refresh();
    const cell = this.#take() ?? (await this.#turn(signal)) ?? (signal?.aborted ? undefined : this.#start());
    if (!cell) return cancelled();
    try {
      return await cell.call(job.params, signal, job);
    } finally {
      this.#giveBack(cell);
    }
  }

  async warm(): Promise<void> {
    if (this.#cells.size === 0) this.#idle.push(this.#start());
    await Promise.all([...this.#cells].map((cell) => cell.ready));
  }

  /** Running and waiting calls are left to finish; their processes end with them. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#idleTimer);
    for (const cell of this.#idle.splice(0)) this.#retire(cell);
  }

  #take(): WarmCell | undefined {
    for (let cell = this.#next(); cell; cell = this.#next()) {
      if (!cell.isDead) return cell;
      this.#cells.delete(cell);
    }
    return this.#cells.size < this.#most ? this.#start() : undefined;
  }

  /** One that is ready: the one that was used last, whose caches are warm, or the one that had most time to recover. */
  #next(): WarmCell | undefined {
    if (!this.#place.engine.takesTurns) return this.#idle.pop();
    this.#inARow = performance.now() - this.#lastReply < IN_A_ROW_MS ? this.#inARow + 1 : 0;
    if (this.#inARow >= LONG_ROW && this.#cells.size === 1 && !this.#closed) this.#idle.push(this.#start());
    const ready = this.#idle.findIndex((cell) => cell.isReady);
    return this.#idle.splice(Math.max(0, ready), 1)[0];
  }

  /** Waits for a process to become free, or for the caller to give up. */
  #turn(signal: AbortSignal | undefined): Promise<WarmCell | undefined> {
    return new Promise((resolve) => {
      const giveUp = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(wake), 1);
        resolve(undefined);
      };
      const wake: Waiter = (cell) => {
        signal?.removeEventListener('abort', giveUp);
        resolve(cell);
      };
      this.#waiting.push(wake);
      signal?.addEventListener('abort', giveUp, { once: true });
      if (signal?.aborted) giveUp();
    });
  }

  #giveBack(cell: WarmCell): void {
    this.#lastReply = performance.now();
    const isSpent = cell.isDead || cell.calls >= CALLS_PER_PROCESS;
    const next = this.#waiting.shift();
    if (isSpent || (this.#closed && !next)) this.#retire(cell);
    if (next) next(isSpent ? undefined : cell);
    else if (this.#cells.has(cell)) this.#idle.push(cell);
  }

  #retire(cell: WarmCell): void {
    this.#cells.delete(cell);
    cell.close();
  }

  #start(): WarmCell {
    try {
      this.#options.assertOpen();
      const cell = startWarm(this.#place);
      this.#cells.add(cell);
      return cell;
    } catch (error) {
      // There may be no process left to be given back: whoever waits has to try for itself.
      this.#waiting.shift()?.(undefined);
      throw error;
    }
  }
}

/** One call in a process of its own, without anything kept. */
export async function callWarmOnce(place: WarmPlace, job: Job): Promise<CellReport> {
  const cell = startWarm(place);
  try {
    return await cell.call(job.params, job.signal, job);
  } finally {
    cell.close();
  }
}

function startWarm({ wall, artifact, grant, openBroker }: WarmPlace): WarmCell {
  return owningItself(() => {
    const process = wall.launch(artifact.spec(grant), processGrant(grant));
    return new WarmCell({ process, artifact, grant, openBroker, placeholders: makePlaceholders(grant) });
  });
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

/** Of a call that was given up before any process had to do with it. */
function cancelled(): CellReport {
  return {
    start: 'warm',
    started: false,
    reply: undefined,
    exit: undefined,
    killReason: 'aborted',
    denied: [],
    used: [],
    logs: '',
    logBytes: 0,
    resultBytes: 0,
    wallMs: 0,
    usage: { cpuMs: 0, memoryPeakBytes: 0 },
    fuel: 0,
    hostCalls: 0,
  };
}
