/**
 * Takes calls from the queues of tenants, one for each free place. Tenants with waiting calls take turns; for the others,
 * one request is parked at the server, so that a call reaches an idle worker at once: first one where the tenant is warm. No
 * call waits for a certain worker, so nobody starves.
 *
 * @module
 */
import type { Msg, NatsConnection } from '@nats-io/transport-node';
import { consumerOf, PULL_GROUP, STREAMS } from './names.ts';
import type { TenantQueue } from './queues.ts';

/** Short, because a parked request of a stopped worker soaks up a delivery. */
const PARKED_MS = 2000;
/** More than the servers need for an answer. */
const GRACE_MS = 1000;
const AFTER_ERROR_MS = 250;
const NANOS = 1_000_000;

/** A message whose place is reserved. `release` frees the place. */
export type OnCall = (message: Msg, tenant: string, release: () => void) => void;

export interface PullerOptions {
  connection: NatsConnection;
  pool: string;
  slots: number;
  /** Whether calls of this tenant are faster here than on a worker that never ran one. */
  prefers: (tenant: string) => boolean;
  onCall: OnCall;
}

/** Of the workers that wait for a call, the servers choose one with the lowest number. */
const PRIORITIES = { preferred: 0, other: 1 } as const;

/** `ready`: may have calls. `asking`: a request without waiting is under way. `parked`: a request waits at the server. */
type State = 'ready' | 'asking' | 'parked';

export class Puller {
  readonly #options: PullerOptions;
  readonly #tenants = new Map<string, State>();
  readonly #ongoing = new Set<Promise<void>>();
  #prioritized: ReadonlySet<string> = new Set();
  #used = 0;
  #isClosed = false;

  constructor(options: PullerOptions) {
    this.#options = options;
  }

  get used(): number {
    return this.#used;
  }

  get tenants(): string[] {
    return [...this.#tenants.keys()];
  }

  /** The tenants whose queues exist. */
  serve(queues: readonly TenantQueue[]): void {
    const tenants = queues.map(({ tenant }) => tenant);
    this.#prioritized = new Set(
      queues.flatMap(({ tenant, hasPriorities }) => (hasPriorities ? [tenant] : [])),
    );
    for (const known of this.#tenants.keys()) if (!tenants.includes(known)) this.#tenants.delete(known);
    for (const tenant of tenants) if (!this.#tenants.has(tenant)) this.#tenants.set(tenant, 'ready');
    this.#pump();
  }

  /** Takes no more calls. Resolves when no request is under way. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#ongoing);
  }

  /** One request without waiting for each free place, for the tenants in turn. */
  #pump(): void {
    while (!this.#isClosed && this.#used < this.#options.slots) {
      const tenant = this.#takeReady();
      if (tenant === undefined) return;
      this.#used++;
      this.#own(this.#ask(tenant));
    }
  }

  #takeReady(): string | undefined {
    for (const [tenant, state] of this.#tenants) {
      if (state !== 'ready') continue;
      // To the end of the row.
      this.#tenants.delete(tenant);
      this.#tenants.set(tenant, 'asking');
      return tenant;
    }
    return undefined;
  }

  async #ask(tenant: string): Promise<void> {
    const message = await this.#request(tenant, { batch: 1, no_wait: true });
    if (message) this.#deliver(message, tenant);
    else this.#used--;
    if (message) this.#ready(tenant);
    else this.#park(tenant);
  }

  #park(tenant: string): void {
    if (this.#isClosed || !this.#tenants.has(tenant)) return;
    this.#tenants.set(tenant, 'parked');
    this.#own(this.#wait(tenant));
  }

  async #wait(tenant: string): Promise<void> {
    const message = await this.#request(tenant, { batch: 1, expires: PARKED_MS * NANOS });
    if (message) {
      if (this.#isClosed || this.#used >= this.#options.slots) message.respond('-NAK');
      else {
        this.#used++;
        this.#deliver(message, tenant);
      }
      this.#ready(tenant);
    } else if (this.#used < this.#options.slots) this.#park(tenant);
    // With no free place, it is asked for again when one is free.
    else this.#ready(tenant);
  }

  #ready(tenant: string): void {
    if (this.#tenants.has(tenant)) this.#tenants.set(tenant, 'ready');
    this.#pump();
  }

  #deliver(message: Msg, tenant: string): void {
    let isHeld = true;
    this.#options.onCall(message, tenant, () => {
      if (!isHeld) return;
      isHeld = false;
      this.#used--;
      this.#pump();
    });
  }

  async #request(tenant: string, request: object): Promise<Msg | undefined> {
    const { connection, pool } = this.#options;
    const subject = `$JS.API.CONSUMER.MSG.NEXT.${STREAMS.calls}.${consumerOf(pool, tenant)}`;
    try {
      const answer = await connection.request(
        subject,
        JSON.stringify({ ...request, ...this.#priority(tenant) }),
        {
          timeout: PARKED_MS + GRACE_MS,
          // A call arrives on its own subject, which a shared inbox would not recognize.
          noMux: true,
        },
      );
      // A status instead of a message: nothing waits, the time is over, or the server is busy.
      if (answer.headers?.hasError || (answer.headers?.code ?? 0) > 0) return undefined;
      return answer;
    } catch {
      const { promise, resolve } = Promise.withResolvers<void>();
      setTimeout(resolve, AFTER_ERROR_MS);
      await promise;
      return undefined;
    }
  }

  #priority(tenant: string): object {
    if (!this.#prioritized.has(tenant)) return {};
    const { preferred, other } = PRIORITIES;
    return { group: PULL_GROUP, priority: this.#options.prefers(tenant) ? preferred : other };
  }

  #own(work: Promise<void>): void {
    this.#ongoing.add(work);
    work.then(
      () => this.#ongoing.delete(work),
      () => this.#ongoing.delete(work),
    );
  }
}
