/**
 * Limits the event streams that follow running calls: each occupies a connection, and tenants share a limited number.
 *
 * @module
 */
import { SkillError } from '../inside.ts';

/** Default per tenant; the access file can override it. */
export const MAX_STREAMS = 64;
/** A stream ends with its call, so there is often room soon. */
const RETRY_MS = 1000;

export class EventStreams {
  readonly #limitFor: (tenant: string) => number | undefined;
  readonly #open = new Map<string, number>();

  constructor(limitFor: (tenant: string) => number | undefined = () => undefined) {
    this.#limitFor = limitFor;
  }

  /** Reserves a stream until the returned function is called. Throws if the tenant has reached its limit. */
  enter(tenant: string): () => void {
    const limit = this.#limitFor(tenant) ?? MAX_STREAMS;
    const open = this.#open.get(tenant) ?? 0;
    if (open >= limit) throw tooMany(tenant, limit);
    this.#open.set(tenant, open + 1);
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      this.#leave(tenant);
    };
  }

  #leave(tenant: string): void {
    const rest = (this.#open.get(tenant) ?? 0) - 1;
    if (rest > 0) this.#open.set(tenant, rest);
    else this.#open.delete(tenant);
  }
}

function tooMany(tenant: string, streams: number): SkillError {
  return new SkillError(
    'resource_exceeded',
    `Too many event streams: the tenant "${tenant}" has ${streams} open`,
    {
      fix: 'Close some of them, or ask the operator to raise "streams" of the tenant in the access file.',
      detail: { limit: 'busy', scope: 'tenant', streams, retry_after_ms: RETRY_MS },
    },
  );
}
