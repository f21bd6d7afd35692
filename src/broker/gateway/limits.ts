/**
 * Limits on one call's use of the gateway, whatever its manifest declares.
 *
 * @module
 */
import { BrokerRefusal } from '../../cell/contract.ts';

const MIB = 1024 * 1024;

export interface GatewayLimits {
  /** Requests, unfinished responses and tunnels together. */
  open: number;
  /** All requests, including denied ones. */
  requests: number;
  /** Resolved names, because each costs the host a lookup. */
  names: number;
  requestBytes: number;
  responseBytes: number;
  /** Bytes of incomplete requests in the host's memory, together. */
  heldBytes: number;
  /** Bytes of all requests, responses and tunnels, in both directions. */
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

/** Tracks the limits of one call. */
export class Budget {
  readonly limits: GatewayLimits;
  #open = 0;
  #requests = 0;
  #bytes = 0;
  #held = 0;

  constructor(limits: Partial<GatewayLimits> = {}) {
    this.limits = { ...GATEWAY_LIMITS, ...limits };
  }

  /** Counts a request or tunnel before it is checked, because checking also costs the host. */
  ask(): void {
    if (this.#requests >= this.limits.requests) throw new BrokerRefusal('mfile', 'too many requests');
    this.#requests++;
  }

  /** Takes a slot for a request or tunnel; the returned function releases it, once. */
  enter(): () => void {
    if (this.#open >= this.limits.open) throw new BrokerRefusal('mfile', 'too many open requests');
    this.#open++;
    let isOpen = true;
    return () => {
      if (isOpen) this.#open--;
      isOpen = false;
    };
  }

  /** Reserves host memory for a part of a request; the caller must release it. */
  hold(bytes: number): void {
    if (this.#held + bytes > this.limits.heldBytes)
      throw new BrokerRefusal('mfile', 'too many bytes in incomplete requests');
    this.#held += bytes;
  }

  release(bytes: number): void {
    this.#held -= bytes;
  }

  spend(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > this.limits.totalBytes)
      throw new BrokerRefusal('toobig', 'the call has transferred too many bytes');
  }
}
