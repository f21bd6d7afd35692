/**
 * What every route works with.
 *
 * @module
 */
import {
  Dispatcher,
  HostFolders,
  parseDuration,
  parseSize,
  toSkillError,
  type Blamed,
  type ExecuteOptions,
  type Mode,
  type Outcome,
  type PairReport,
  type Runtime,
} from '../index.ts';
import { Access, type Identity } from './access.ts';
import type { TokenEntry } from './access-file.ts';
import { dispatchOptions } from './limits.ts';
import { LiveCalls, WatchedCall } from './live-calls.ts';
import { ServiceMetrics } from './service-metrics.ts';
import { Shelf } from './shelf.ts';

const MACHINE_MS = 60_000;
/** Cancelled calls end by a kill; who has not ended so long after it does not end. */
const CANCEL_MS = 5000;

/** A part of the service that does not work, and why. */
export interface Hindrance {
  part: 'service' | 'receipts' | 'cells';
  reason: string;
}

export interface ServiceOptions {
  runtime: Runtime;
  /** Faults that nobody caught, by who was ended because of them; whoever owns the process counts them. */
  faults?: Readonly<Record<Blamed, number>>;
  accessFile: string;
  /** Tokens of this run alone. */
  extraTokens?: readonly TokenEntry[];
  /** What `${workspace}` in a manifest stands for; callers cannot choose it. */
  workspace?: string;
  maxBodyBytes?: number;
  /** Names besides `localhost` that the service may be reached by. */
  hostNames?: readonly string[];
}

/** What a caller asks for, already checked. */
export interface CallRequest {
  name: string;
  params: unknown;
  timeout?: string | undefined;
  memory?: string | undefined;
  execution?: Mode | undefined;
  /** As the headers of W3C say it. */
  trace?: TraceHeaders | undefined;
}

export interface TraceHeaders {
  traceparent: string;
  tracestate: string | undefined;
}

export class Service {
  readonly runtime: Runtime;
  readonly access: Access;
  readonly shelf: Shelf;
  /** Stay here, whatever callers are told. */
  readonly folders: HostFolders;
  readonly live: LiveCalls;
  readonly metrics: ServiceMetrics = new ServiceMetrics();
  readonly dispatcher: Dispatcher;
  readonly options: ServiceOptions;
  readonly #ongoing = new Set<Promise<unknown>>();
  #isClosing = false;
  #machine: { report: Promise<PairReport[]>; at: number } | undefined;

  constructor(options: ServiceOptions) {
    this.options = options;
    this.runtime = options.runtime;
    const { home, registries } = options.runtime;
    this.folders = new HostFolders({ home, registries, workspace: options.workspace });
    this.live = new LiveCalls(this.folders);
    this.access = new Access({ file: options.accessFile, extra: options.extraTokens ?? [] });
    this.shelf = new Shelf(options.runtime);
    this.dispatcher = new Dispatcher(dispatchOptions(() => this.access.rules));
  }

  get isClosing(): boolean {
    return this.#isClosing;
  }

  /** Throws when the call is not taken; otherwise it has an id, and ends in an outcome and a receipt. */
  async start(request: CallRequest, identity: Identity, signal: AbortSignal): Promise<StartedCall> {
    const location = this.shelf.locate(request.name);
    const options = this.#optionsFor(request);
    const { tenant, caller } = identity;
    const call = new WatchedCall({ skill: request.name, tenant, caller });
    const ended = AbortSignal.any([signal, call.signal]);
    const turn = this.dispatcher.enter({ tenant, skill: request.name, signal: ended });
    const onEvent = this.live.listenerFor(call);
    const running = this.runtime.execute(location.ref, request.params, {
      ...options,
      // In its turn and not before: reading a skill is work, too.
      load: () => this.shelf.load(location),
      caller,
      signal: ended,
      turn,
      onEvent,
      reject: false,
    });
    return { call, outcome: this.#note(call, running) };
  }

  /** Trying what a machine can do starts programs: once in a while, however often it is asked for. */
  machine(): Promise<PairReport[]> {
    const now = performance.now();
    if (this.#machine && now - this.#machine.at < MACHINE_MS) return this.#machine.report;
    this.#machine = { report: this.runtime.doctor(), at: now };
    return this.#machine.report;
  }

  /** Reads every skill ahead of the first request for it, one after the other. */
  async readAhead(): Promise<void> {
    for (const location of this.shelf.list()) {
      if (this.#isClosing) return;
      await this.shelf.load(location).catch(() => undefined);
    }
  }

  /** Takes no more calls; those that run may finish until the time is over, then they are cancelled. */
  async drain(waitMs: number): Promise<void> {
    this.#isClosing = true;
    const timer = setTimeout(() => this.live.cancelAll(), waitMs);
    const { promise: givenUp, resolve: giveUp } = Promise.withResolvers<void>();
    // Whatever keeps a cancelled call from ending must not keep the service from it.
    const lastTimer = setTimeout(giveUp, waitMs + CANCEL_MS);
    await Promise.race([this.#lastCalls(), givenUp]);
    clearTimeout(timer);
    clearTimeout(lastTimer);
  }

  async #lastCalls(): Promise<void> {
    await this.dispatcher.drain();
    await Promise.allSettled(this.#ongoing);
  }

  /** What keeps this service from taking calls; empty when nothing does. */
  async hindrances(): Promise<Hindrance[]> {
    const found: Hindrance[] = this.#isClosing ? [{ part: 'service', reason: 'It is shutting down' }] : [];
    try {
      this.runtime.assertReceipts();
    } catch (thrown) {
      found.push({ part: 'receipts', reason: this.folders.error(toSkillError(thrown).toBody()).message });
    }
    try {
      const pairs = await this.machine();
      if (!pairs.some(({ wall, available }) => wall !== 'none' && available))
        found.push({ part: 'cells', reason: 'No wall works on this machine' });
    } catch {
      found.push({ part: 'cells', reason: 'The walls of this machine could not be tried' });
    }
    return found;
  }

  async #note(call: WatchedCall, running: Promise<Outcome>): Promise<Outcome> {
    this.#ongoing.add(running);
    try {
      const outcome = this.folders.outcome(await running);
      this.metrics.called(call.facts.skill, outcome);
      // A call that was not accepted has told nothing, and somebody may follow it.
      if (!call.isOver) call.note({ type: 'done', outcome });
      return outcome;
    } finally {
      call.end();
      this.#ongoing.delete(running);
    }
  }

  /** Nothing that a caller says can widen a call: always a cell, never code of a stranger in this process. */
  #optionsFor({ timeout, memory, execution, trace }: CallRequest): ExecuteOptions {
    const { workspace } = this.options;
    return {
      isolated: true,
      ...(timeout === undefined ? {} : { timeout: parseDuration(timeout) }),
      ...(memory === undefined ? {} : { memory: parseSize(memory) }),
      ...(execution === undefined ? {} : { execution }),
      ...(trace === undefined ? {} : { trace }),
      ...(workspace === undefined ? {} : { workspace }),
    };
  }
}

export interface StartedCall {
  call: WatchedCall;
  outcome: Promise<Outcome>;
}
