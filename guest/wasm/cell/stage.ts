/**
 * Sits between an instance and the host. An instance is created before its call arrives, and its start functions may
 * already print and send requests: their output is held back until the call begins, because there is no receiver before.
 *
 * @module
 */
import type { BrokerAnswer, BrokerClient } from '../wasi/broker-client.ts';

export interface Denied {
  capability: string;
  asked: string;
  declared: string;
}

export interface Listeners {
  broker: BrokerClient;
  /** Receives what the skill prints. */
  onLog: (bytes: Uint8Array) => void;
  /** Receives denials made inside the cell. */
  onDenied: (event: Denied) => void;
}

export class Stage implements BrokerClient {
  readonly #listeners: Listeners;
  #kept: (() => void)[] | undefined = [];

  constructor(listeners: Listeners) {
    this.#listeners = listeners;
  }

  /** The call has arrived. */
  begin(): void {
    const kept = this.#kept ?? [];
    this.#kept = undefined;
    for (const say of kept) say();
  }

  request(op: string, args: Record<string, unknown>, bytes?: Uint8Array): Promise<BrokerAnswer> {
    const ask = (): Promise<BrokerAnswer> => this.#listeners.broker.request(op, args, bytes);
    if (this.#kept === undefined) return ask();
    return new Promise((resolve) => this.#kept?.push(() => resolve(ask())));
  }

  log(bytes: Uint8Array): void {
    if (this.#kept === undefined) this.#listeners.onLog(bytes);
    else this.#kept.push(() => this.#listeners.onLog(bytes));
  }

  denied(event: Denied): void {
    if (this.#kept === undefined) this.#listeners.onDenied(event);
    else this.#kept.push(() => this.#listeners.onDenied(event));
  }
}
