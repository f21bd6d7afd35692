/**
 * The cells kept ready for one skill and grant, and the zygote that helps out when they run short.
 *
 * @module
 */
import { unattended } from '../errors.ts';
import { ownedByNobody } from '../fault-owner.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { mayReachHosts, type Grant } from '../policy/grant.ts';
import type { CellReport, Job, Zygote } from './contract.ts';
import type { Gate } from './gate.ts';
import { forkNative, startNative, type NativePlace } from './native-cell.ts';
import type { CellSource } from './pool.ts';
import type { Session } from './session.ts';

/** After so many forks a zygote is replaced: its memory layout is shared by all that came from it. */
const FORKS_PER_ZYGOTE = 500;
/** What a start takes on a machine that has nothing else to do is a small part of this. */
const STARTING_MS = 250;
/** While calls overlap, and for so long after, nothing is started ahead: the zygote serves them cheaper. */
const CALM_MS = 1000;
/** A skill that dies while loading is not started ahead again and again. */
const MAX_FAILED_STARTS = 3;

export interface StandbyOptions {
  size: number;
  ready: 'cells' | 'zygote';
  idleMs: number;
  /** Who may start a cell for a call that waits. */
  starts: Gate;
  /** Throws when no process may be started any more. */
  assertOpen: () => void;
  /** Called after `idleMs` without a call. */
  onIdle: () => void;
}

export class Standby implements CellSource {
  readonly #place: NativePlace;
  readonly #options: StandbyOptions;
  #cells: Session[] = [];
  #zygote: Zygote | undefined;
  #forks = 0;
  #failedStarts = 0;
  #busy = 0;
  /** When calls last overlapped. */
  #crowded = -CALM_MS;
  #closed = false;
  #idleTimer: NodeJS.Timeout | undefined;
  #refillTimer: NodeJS.Timeout | undefined;

  constructor(place: NativePlace, options: StandbyOptions) {
    this.#place = place;
    this.#options = options;
    this.#touch();
  }

  async call(job: Job): Promise<CellReport> {
    this.#touch();
    this.#busy++;
    if (this.#busy > 1) this.#crowded = performance.now();
    const session = await this.#take(job.signal);
    const report = await session.call(job.params, job.signal, job);
    if (!hasNotBegun(report)) return report;
    // A zygote also goes away when the runtime closes.
    this.#options.assertOpen();
    return callOnce(this.#place, job);
  }

  /** A cell for one call. */
  async #take(signal: AbortSignal | undefined): Promise<Session> {
    try {
      const session = this.#readyCell() ?? (await this.#begin(signal));
      unattended(session.exited.then(() => this.#onFinished()));
      return session;
    } catch (error) {
      this.#onFinished();
      throw error;
    }
  }

  /** Starts a cell when it is its turn; whoever is next need not wait for one that takes its time. */
  #begin(signal: AbortSignal | undefined): Promise<Session> {
    const { promise, resolve, reject } = Promise.withResolvers<Session>();
    const start = async (): Promise<void> => {
      this.#options.assertOpen();
      const session = (await this.#forkedCell()) ?? this.#startingCell() ?? startCold(this.#place);
      resolve(session);
      await Promise.race([session.ready, sleep(STARTING_MS, undefined, { ref: false })]);
    };
    this.#options.starts.through(start, signal).catch(reject);
    return promise;
  }

  async warm(): Promise<void> {
    if (this.#options.ready === 'zygote') await this.#burstZygote()?.ready;
    this.#refill();
    await Promise.all(this.#cells.map((cell) => cell.ready));
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#idleTimer);
    clearTimeout(this.#refillTimer);
    for (const cell of this.#cells) cell.discard();
    this.#cells = [];
    this.#zygote?.close();
    this.#zygote = undefined;
  }

  #readyCell(): Session | undefined {
    this.#cells = this.#cells.filter((cell) => !cell.isDead);
    const at = this.#cells.findIndex((cell) => cell.isReady);
    return at < 0 ? undefined : this.#cells.splice(at, 1)[0];
  }

  /** A cell that is still starting is nearer to ready than one that is not started yet. */
  #startingCell(): Session | undefined {
    return this.#cells.shift();
  }

  async #forkedCell(): Promise<Session | undefined> {
    const zygote = this.#burstZygote();
    if (!zygote?.isReady) return undefined;
    this.#forks++;
    try {
      return await forkNative(this.#place, zygote);
    } catch {
      this.#retireZygote();
      return undefined;
    }
  }

  /** The pool has run dry, which is what a zygote is for: it starts beside the call that noticed. */
  #burstZygote(): Zygote | undefined {
    const { engine, artifact, grant } = this.#place;
    const isSpent = this.#forks >= (this.#zygote?.maxForks ?? FORKS_PER_ZYGOTE);
    if (isSpent || this.#zygote?.hasEnded) this.#retireZygote();
    if (this.#zygote === undefined && !this.#closed) {
      const zygote = ownedByNobody(() => engine.openZygote?.(artifact, grant));
      this.#zygote = zygote;
      unattended(zygote?.ready.then((ready) => ready || this.#zygote !== zygote || this.#retireZygote()));
    }
    return this.#zygote;
  }

  #retireZygote(): void {
    this.#zygote?.close();
    this.#zygote = undefined;
    this.#forks = 0;
  }

  #onFinished(): void {
    this.#busy--;
    if (this.#busy === 0) this.#refillWhenCalm();
  }

  #refillWhenCalm(): void {
    clearTimeout(this.#refillTimer);
    const wait = this.#zygote?.isReady ? this.#crowded + CALM_MS - performance.now() : 0;
    if (wait <= 0) return this.#refill();
    this.#refillTimer = setTimeout(() => this.#busy === 0 && this.#refill(), wait).unref();
  }

  #refill(): void {
    const preload = mayPreload(this.#place.grant);
    const wanted = this.#options.ready === 'zygote' ? 0 : this.#options.size;
    while (!this.#closed && this.#cells.length < wanted && this.#failedStarts < MAX_FAILED_STARTS) {
      const cell = this.#startAhead(preload);
      if (!cell) return;
      this.#cells.push(cell);
      const count = (ready: boolean): void => {
        this.#failedStarts = ready ? 0 : this.#failedStarts + 1;
      };
      unattended(cell.ready.then(count));
    }
  }

  /** Nobody asked for it, so nobody is told when there is no room or no descriptor for it: a call starts its own. */
  #startAhead(preload: boolean): Session | undefined {
    try {
      return startNative(this.#place, { start: 'pool', preload });
    } catch {
      this.#failedStarts++;
      return undefined;
    }
  }

  #touch(): void {
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(this.#options.onIdle, this.#options.idleMs).unref();
  }
}

/** A fork whose zygote went away before it had read the skill: nothing of the call has been done. */
function hasNotBegun({ start, started, reply, killReason }: CellReport): boolean {
  const wasEnded = killReason === undefined || killReason === 'protocol';
  return start === 'zygote' && !started && reply === undefined && wasEnded;
}

/** One call without anything kept ready. */
export function callOnce(place: NativePlace, job: Job): Promise<CellReport> {
  return startCold(place).call(job.params, job.signal, job);
}

function startCold(place: NativePlace): Session {
  return startNative(place, { start: 'cold', preload: false });
}

/** The module body may run before a call only where nothing outside the cell can notice. */
function mayPreload(grant: Grant): boolean {
  return !mayReachHosts(grant) && grant.filesystem.every((path) => path.access === 'read');
}
