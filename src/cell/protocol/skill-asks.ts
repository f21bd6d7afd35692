/**
 * Requests of a native cell during its call: they are about skills, and the same broker serves them as for Wasm cells.
 *
 * @module
 */
import type { Duplex } from 'node:stream';
import type { CallBroker } from '../contract.ts';
import type { GuestFrame } from './frames.ts';
import { HostCalls } from './host-calls.ts';

/** The largest body of a request. The broker refuses smaller ones already, with an answer. */
export const MAX_SKILL_PARAMS: number = 8 * 1024 * 1024;
/** As of Wasm cells: a call with more requests than this is an attack on the host. */
const MAX_ASKS = 400_000;
/** Maximum JSON bytes of all requests, which the host parses. */
const MAX_ASK_BYTES = 64 * 1024 * 1024;

export class SkillAsks {
  readonly broker: CallBroker;
  readonly #hostCalls: HostCalls;
  #bytes = 0;
  #hasEnded = false;

  constructor(broker: CallBroker, channel: Duplex) {
    this.broker = broker;
    this.#hostCalls = new HostCalls(broker, channel);
  }

  get count(): number {
    return this.#hostCalls.count;
  }

  /** False if the cell has asked too much. A request after the end is dropped. */
  take(frame: GuestFrame): boolean {
    if (this.#hasEnded) return true;
    this.#bytes += frame.bytes - (frame.payload?.length ?? 0);
    if (this.#bytes > MAX_ASK_BYTES || this.count >= MAX_ASKS) return false;
    this.#hostCalls.ask(frame);
    return true;
  }

  /** Cancels what still runs, and answers nothing any more. */
  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#hostCalls.end();
  }
}
