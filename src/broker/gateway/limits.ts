/**
 * How much one call may do through the gateway, whatever its manifest declares.
 *
 * @module
 */
import { BrokerRefusal } from '../../cell/contract.ts';

const MIB = 1024 * 1024;

export interface GatewayLimits {
  /** Requests, responses that are not read to their end, and tunnels, together. */
  open: number;
  requests: number;
  /** Names that are resolved: each costs a lookup of the host's. */
  names: number;
  requestBytes: number;
  responseBytes: number;
  /** Of requests that wait for their end in the host's memory, together. */
  heldBytes: number;
  /** Over all requests, responses and tunnels, in both directions. */
  totalBytes: number;
}

export const GATEWAY_LIMITS: GatewayLimits = {
  open: 32,
  requests: 10_000,
  names: 64,
  requestBytes: 8 * MIB,
  responseBytes: 64 * MIB,
  heldBytes: 32 * MIB,
  totalBytes: 512 * MIB,
};

/** What is left of the limits of one call. */
export class Budget {
  readonly limits: GatewayLimits;
  #open = 0;
  #requests = 0;
  #bytes = 0;
  #held = 0;

  constructor(limits: Partial<GatewayLimits> = {}) {
    this.limits = { ...GATEWAY_LIMITS, ...limits };
  }

  /** Takes a place for a request or a tunnel; the function gives it back, once. */
  enter(): () => void {
    if (this.#open >= this.limits.open) throw new BrokerRefusal('mfile', 'too many open requests');
    if (this.#requests >= this.limits.requests) throw new BrokerRefusal('mfile', 'too many requests');
    this.#open++;
    this.#requests++;
    let isOpen = true;
    return () => {
      if (isOpen) this.#open--;
      isOpen = false;
    };
  }

  /** Reserves memory of the host for a part of a request; the caller gives it back. */
  hold(bytes: number): void {
    if (this.#held + bytes > this.limits.heldBytes)
      throw new BrokerRefusal('mfile', 'too many bytes of requests at once');
    this.#held += bytes;
  }

  release(bytes: number): void {
    this.#held -= bytes;
  }

  spend(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > this.limits.totalBytes)
      throw new BrokerRefusal('toobig', 'the call has moved too many bytes');
  }
}
