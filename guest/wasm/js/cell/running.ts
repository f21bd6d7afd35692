/**
 * The state of one call outside the engine: its output, pending operations, and reply. Created for every call,
 * so that nothing of a call stays in the process.
 *
 * @module
 */
import { GuestEnd } from '../../contract.ts';
import type { BrokerClient } from '../../wasi/broker-client.ts';
import { Call, type HostOptions } from '../../wasi/call.ts';
import type { Value } from '../engine/exports.ts';
import type { CapabilityFields, JsInit } from '../../../protocol.ts';
import { startOperation, type Operation, type OperationInput, type Settled } from './operations.ts';

const MAX_HOST_CALLS = 200_000;
/** Maximum number of concurrent requests and timers. */
const MAX_PENDING = 1024;
const MAX_EVENTS = 64;
const MAX_USES = 4096;
/** Minimum cost of a line, however short, because each is a separate frame. */
const LINE_BYTES = 16;

/** Receives what a call does. */
export interface Listeners {
  broker: BrokerClient;
  onLog: (bytes: Uint8Array) => void;
  /** A denial, or a use if the host records what a skill needs. */
  onEvent: (event: CellEvent) => void;
}

export type CellEvent = CapabilityFields & { t: 'denied' | 'used' };

export interface Reply {
  kind: string;
  utf8: Uint8Array;
}

export class Running {
  readonly call: Call;
  /** Unhandled rejected promises by object, with the reason. */
  readonly rejections: Map<number, Value> = new Map();
  reply: Reply | undefined;
  /** Whether the host was asked for something that takes time. */
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
      throw new GuestEnd('trap', 'The prelude requested an unknown operation');
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

  /** The next event that the guest waits for; undefined if nothing can ever arrive. */
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
