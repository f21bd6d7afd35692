/**
 * The cells kept ready for one skill and grant, and the zygote that forks more in a burst.
 *
 * @module
 */
import { unattended } from '../../errors.ts';
import { withoutFaultOwner } from '../../fault-owner.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { mayReachHosts, type Grant } from '../../policy/grant.ts';
import type { CellReport, Job, Zygote } from '../contract.ts';
import type { Gate } from './gate.ts';
import { forkNative, startNative, type NativePlace } from './native-cell.ts';
import type { CellSource } from './pool.ts';
import type { Session } from '../protocol/session.ts';

/** A zygote is replaced after this many forks, because all of them share its memory layout. */
const FORKS_PER_ZYGOTE = 500;
/** Its successor starts after this share of them, so that no call has to wait for it. */
const SUCCESSOR_AT = 0.6;
/** Several times what a start takes on an idle machine. */
const STARTING_MS = 250;
/** While calls overlap, and for this long after, no cells are pre-started, because the zygote is cheaper. */
const CALM_MS = 1000;
/** After this many failed starts, pre-starting a skill pauses. */
const MAX_FAILED_STARTS = 3;
/** The first pause; each failure after it doubles the next. */
const PAUSE_MS = 1000;
const MAX_PAUSE_MS = 30_000;

export interface SingleUsePoolOptions {
  size: number;
  ready: 'cells' | 'zygote';
  idleMs: number;
  /** Limits how many cells start at the same time. */
  starts: Gate;
  /** Throws if the runtime is closed. */
  assertOpen: () => void;
  /** Called after `idleMs` without a call. */
  onIdle: () => void;
}

export class SingleUsePool implements CellSource {
  readonly #place: NativePlace;
  readonly #options: SingleUsePoolOptions;
  #cells: Session[] = [];
  #zygote: Zygote | undefined;
  #successor: Zygote | undefined;
  #forks = 0;
  #failedStarts = 0;
  /** No cells are pre-started before this time, because starts failed. */
  #pausedUntil = 0;
  #runningCalls = 0;
  /** When calls last overlapped. */
  #lastOverlap = -CALM_MS;
  #closed = false;
  /** How long the last cell that was started ahead took. */
  #startMs: number | undefined;
  #idleTimer: NodeJS.Timeout | undefined;
  #refillTimer: NodeJS.Timeout | undefined;

  constructor(place: NativePlace, options: SingleUsePoolOptions) {
    this.#place = place;
    this.#options = options;
    this.#restartIdleTimer();
  }

  async call(job: Job): Promise<CellReport> {
    this.#restartIdleTimer();
    this.#runningCalls++;
    if (this.#runningCalls > 1) this.#lastOverlap = performance.now();
    const session = await this.#take(job.signal);
    const report = await session.call(job.params, job.signal, job);
    if (!diedBeforeCall(report)) return report;
    // The zygote may have ended because the runtime was closed.
    this.#options.assertOpen();
    return callOnce(this.#place, job);
  }

  /** Takes or starts a cell for one call. */
  async #take(signal: AbortSignal | undefined): Promise<Session> {
    try {
      const session = this.#readyCell() ?? (await this.#startInTurn(signal));
      unattended(session.exited.then(() => this.#onFinished()));
      return session;
    } catch (error) {
      this.#onFinished();
      throw error;
    }
  }

  /** Starts a cell when there is room. A slow start holds its slot only for `STARTING_MS`. */
  #startInTurn(signal: AbortSignal | undefined): Promise<Session> {
    const { promise, resolve, reject } = Promise.withResolvers<Session>();
    const start = async (): Promise<void> => {
      this.#options.assertOpen();
      const session = (await this.#forkedCell()) ?? this.#startingCell() ?? startCold(this.#place);
      resolve(session);
      await Promise.race([session.ready, sleep(STARTING_MS, undefined, { ref: false })]);
    };
    this.#options.starts.run(start, signal).catch(reject);
    return promise;
  }

  async warm(): Promise<void> {
    if (this.#options.ready === 'zygote') await this.#burstZygote()?.ready;
    this.#refill();
    await Promise.all(this.#cells.map((cell) => cell.ready));
  }

  get bytes(): number {
    const held = [...this.#cells, this.#zygote, this.#successor];
    return held.reduce((sum, one) => sum + (one?.bytes ?? 0), 0);
  }

  get startMs(): number | undefined {
    return this.#startMs;
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#idleTimer);
    clearTimeout(this.#refillTimer);
    for (const cell of this.#cells) cell.discard();
    this.#cells = [];
    for (const zygote of [this.#zygote, this.#successor]) zygote?.close();
    this.#zygote = undefined;
    this.#successor = undefined;
  }

  #readyCell(): Session | undefined {
    this.#cells = this.#cells.filter((cell) => !cell.isDead);
    const at = this.#cells.findIndex((cell) => cell.isReady);
    return at < 0 ? undefined : this.#cells.splice(at, 1)[0];
  }

  /** A cell that is already starting will be ready sooner than a new one. */
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

  /** Starts a zygote when the pool runs dry, without delaying the current call. */
  #burstZygote(): Zygote | undefined {
    const maxForks = this.#zygote?.maxForks ?? FORKS_PER_ZYGOTE;
    if (this.#forks >= maxForks || this.#zygote?.hasEnded) this.#retireZygote();
    if (this.#zygote === undefined) this.#zygote = this.#openZygote();
    else if (this.#forks >= maxForks * SUCCESSOR_AT) this.#successor ??= this.#openZygote();
    return this.#zygote;
  }

  #openZygote(): Zygote | undefined {
    if (this.#closed) return undefined;
    const { engine, artifact, grant } = this.#place;
    const zygote = withoutFaultOwner(() => engine.openZygote?.(artifact, grant));
    unattended(zygote?.ready.then((ready) => ready || this.#onFailedZygote(zygote)));
    return zygote;
  }

  #onFailedZygote(zygote: Zygote): void {
    if (this.#successor === zygote) this.#successor = undefined;
    if (this.#zygote === zygote) this.#retireZygote();
  }

  #retireZygote(): void {
    this.#zygote?.close();
    this.#zygote = this.#successor?.hasEnded ? undefined : this.#successor;
    this.#successor = undefined;
    this.#forks = 0;
  }

  #onFinished(): void {
    this.#runningCalls--;
    if (this.#runningCalls === 0) this.#refillWhenCalm();
  }

  #refillWhenCalm(): void {
    clearTimeout(this.#refillTimer);
    const wait = this.#zygote?.isReady ? this.#lastOverlap + CALM_MS - performance.now() : 0;
    if (wait <= 0) return this.#refill();
    this.#refillTimer = setTimeout(() => this.#runningCalls === 0 && this.#refill(), wait).unref();
  }

  #refill(): void {
    const preload = mayPreload(this.#place.grant);
    const wanted = this.#options.ready === 'zygote' ? 0 : this.#options.size;
    while (!this.#closed && this.#cells.length < wanted && performance.now() >= this.#pausedUntil) {
      const cell = this.#startAhead(preload);
      if (!cell) return;
      this.#cells.push(cell);
      const began = performance.now();
      unattended(
        cell.ready.then((ready) => {
          this.#startMs = performance.now() - began;
          this.#countStart(ready);
        }),
      );
    }
  }

  /** Counts failures, and pauses after too many. The cause may pass, so the first call after a pause tries again. */
  #countStart(ready: boolean): void {
    this.#failedStarts = ready ? 0 : this.#failedStarts + 1;
    const tooMany = this.#failedStarts - MAX_FAILED_STARTS;
    if (tooMany < 0) this.#pausedUntil = 0;
    else this.#pausedUntil = performance.now() + Math.min(MAX_PAUSE_MS, PAUSE_MS * 2 ** tooMany);
  }

  /** Failures are not reported, because no call waits for this cell: the next call starts its own. */
  #startAhead(preload: boolean): Session | undefined {
    try {
      return startNative(this.#place, { start: 'pool', preload });
    } catch {
      this.#countStart(false);
      return undefined;
    }
  }

  #restartIdleTimer(): void {
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(this.#options.onIdle, this.#options.idleMs).unref();
  }
}

/** Whether a fork died with its zygote before it read the skill, so that the call can safely run again. */
function diedBeforeCall({ start, started, reply, killReason }: CellReport): boolean {
  const wasEnded = killReason === undefined || killReason === 'protocol';
  return start === 'zygote' && !started && reply === undefined && wasEnded;
}

/** Runs one call in a new cell, without a pool. */
export function callOnce(place: NativePlace, job: Job): Promise<CellReport> {
  return startCold(place).call(job.params, job.signal, job);
}

function startCold(place: NativePlace): Session {
  return startNative(place, { start: 'cold', preload: false });
}

/** The module body may run before a call only if that has no effect outside the cell. */
function mayPreload(grant: Grant): boolean {
  const isAlone = !mayReachHosts(grant) && grant.skills === undefined;
  return isAlone && grant.filesystem.every((path) => path.access === 'read');
}
