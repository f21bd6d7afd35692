/**
 * Between an instance and the host. An instance is made before its call has come, and its start functions may already
 * print and ask: what they say is kept back until the call begins, for outside of a call nobody listens.
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
  /** Gets what the skill prints for people. */
  onLog: (bytes: Uint8Array) => void;
  /** Gets what was refused inside of the cell. */
  onDenied: (event: Denied) => void;
}

export class Stage implements BrokerClient {
  readonly #listeners: Listeners;
  #kept: (() => void)[] | undefined = [];

  constructor(listeners: Listeners) {
    this.#listeners = listeners;
  }

  /** The call has come. */
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
