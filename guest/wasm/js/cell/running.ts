/**
 * What belongs to one call outside of the engine: its output, what it waits for, and its reply. Made anew for every call,
 * so that nothing of a call is left in the process.
 *
 * @module
 */
import { GuestEnd } from '../../contract.ts';
import type { BrokerClient } from '../../wasi/broker-client.ts';
import { Call, type HostOptions } from '../../wasi/call.ts';
import type { Value } from '../engine/exports.ts';
import type { JsInit } from './contract.ts';
import { startOperation, type Operation, type OperationInput, type Settled } from './operations.ts';

const MAX_HOST_CALLS = 200_000;
/** Requests and timers at once. */
const MAX_PENDING = 1024;
const MAX_EVENTS = 64;
const MAX_USES = 4096;
/** What a line costs at least, however short: each is a frame of its own. */
const LINE_BYTES = 16;

/** Who hears of what a call does. */
export interface Listeners {
  broker: BrokerClient;
  onLog: (bytes: Uint8Array) => void;
  /** A denial, or a use where the host records what a skill needs. */
  onEvent: (event: CellEvent) => void;
}

export interface CellEvent {
  t: 'denied' | 'used';
  capability: string;
  asked: string;
  declared: string;
}

export interface Reply {
  kind: string;
  utf8: Uint8Array;
}

export class Running {
  readonly call: Call;
  /** Rejected promises that nobody listens to, by the object; with the reason. */
  readonly rejections: Map<number, Value> = new Map();
  reply: Reply | undefined;
  /** Something was asked of the host that it takes time to answer. */
  hasAsked = false;
  readonly #listeners: Listeners;
  #linesLeft: number;
  readonly #pending = new Map<number, Operation>();
  readonly #settled: { id: number; result: Settled }[] = [];
  #events = { denied: 0, used: 0 };
  #failure: { error: unknown } | undefined;
  #wake: (() => void) | undefined;

  constructor(init: JsInit, listeners: Listeners, clock?: HostOptions['clock']) {
    this.#listeners = listeners;
    this.#linesLeft = Math.ceil(init.limits.output / LINE_BYTES);
    this.call = new Call({
      broker: listeners.broker,
      preopens: init.preopens,
      limits: { output: init.limits.output, hostCalls: MAX_HOST_CALLS },
      onOutput: (_, bytes) => listeners.onLog(bytes),
      onDenied: (capability, asked) => this.note({ t: 'denied', capability, asked, declared: 'not granted' }),
      ...(clock ? { clock } : {}),
    });
  }

  log(utf8: Uint8Array): void {
    if (--this.#linesLeft < 0) throw new GuestEnd('limit', 'output');
    this.call.write('stdout', utf8);
  }

  note(event: CellEvent): void {
    const most = event.t === 'denied' ? MAX_EVENTS : MAX_USES;
    if (this.#events[event.t]++ < most) this.#listeners.onEvent(event);
  }

  start(id: number, name: string, input: OperationInput): void {
    this.hasAsked = true;
    if (this.#pending.size >= MAX_PENDING) throw new GuestEnd('limit', 'handles');
    const operation = startOperation(name, input, this.call);
    if (!operation || this.#pending.has(id))
      throw new GuestEnd('trap', 'The prelude asked for nothing known');
    this.#pending.set(id, operation);
    operation.settled.then(
      (result) => this.#settle(id, result),
      (error: unknown) => this.#fail(error),
    );
  }

  cancel(id: number): void {
    this.#pending.get(id)?.cancel();
    this.#pending.delete(id);
  }

  /** The next thing that the guest waited for; undefined when it waits for nothing that could ever come. */
  async next(): Promise<{ id: number; result: Settled } | undefined> {
    while (this.#settled.length === 0 && this.#failure === undefined) {
      if (this.#pending.size === 0) return undefined;
      const woken = new Promise<void>((resolve) => (this.#wake = resolve));
      await woken;
    }
    if (this.#failure) throw this.#failure.error;
    return this.#settled.shift();
  }

  finish(): void {
    for (const { cancel } of this.#pending.values()) cancel();
    this.#pending.clear();
    this.call.finish();
  }

  #settle(id: number, result: Settled): void {
    if (!this.#pending.delete(id)) return;
    this.#settled.push({ id, result });
    this.#wake?.();
  }

  #fail(error: unknown): void {
    this.#failure ??= { error };
    this.#wake?.();
  }
}
