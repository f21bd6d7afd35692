/**
 * The queues of tenants: which exist, and how many calls wait and run in each pool, for the metrics of a front end.
 *
 * @module
 */
import { jetstreamManager, type ConsumerInfo, type JetStreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Announcement } from './messages.ts';
import { consumerOf, placeOfConsumer, PULL_GROUP, STREAMS } from './names.ts';

/** Calls of all tenants of a pool. */
export interface PoolLoad {
  pool: string;
  /** In the queue; no worker runs them. */
  waiting: number;
  /** As the workers announce it. */
  running: number;
}

/** Shorter than the interval of any scrape, so that several scrapers cost the servers no more than one. */
const FRESH_MS = 1000;
const ANSWER_MS = 3000;

/** What a worker announces. */
type PoolMember = Pick<Announcement, 'pool' | 'running'>;

/** Asks the servers for the queues of all tenants. */
export class Queues {
  readonly #connection: NatsConnection;
  readonly #workers: () => readonly PoolMember[];
  #last: { loads: Promise<PoolLoad[] | undefined>; at: number } | undefined;

  constructor(connection: NatsConnection, workers: () => readonly PoolMember[]) {
    this.#connection = connection;
    this.#workers = workers;
  }

  /** Undefined if the servers do not answer, or the key of this process may not list queues: then the numbers are unknown, not zero. */
  read(): Promise<PoolLoad[] | undefined> {
    const now = performance.now();
    if (this.#last && now - this.#last.at < FRESH_MS) return this.#last.loads;
    const loads = this.#list().catch(() => undefined);
    this.#last = { loads, at: now };
    return loads;
  }

  async #list(): Promise<PoolLoad[]> {
    const manager = await jetstreamManager(this.#connection, { checkAPI: false, timeout: ANSWER_MS });
    const held = new Map<string, number>();
    for await (const { name, num_pending, num_ack_pending } of manager.consumers.list(STREAMS.calls)) {
      const pool = placeOfConsumer(name)?.pool;
      if (pool !== undefined) held.set(pool, (held.get(pool) ?? 0) + num_pending + num_ack_pending);
    }
    return [...held].map(([pool, calls]) => this.#loadOf(pool, calls)).toSorted(byPool);
  }

  /** A call that a busy worker gave back counts as delivered at the servers, so only workers know what runs. */
  #loadOf(pool: string, held: number): PoolLoad {
    const members = this.#workers().filter((worker) => worker.pool === pool);
    const running = members.reduce((sum, worker) => sum + worker.running, 0);
    return { pool, waiting: Math.max(0, held - running), running };
  }
}

/** Nobody set up this queue. */
const NO_CONSUMER = 10_014;

/** A queue that a worker takes calls from. */
export interface TenantQueue {
  tenant: string;
  /** Its server prefers the worker that asks with the better priority. */
  hasPriorities: boolean;
}

/** The queues of this pool: of the tenants that are named, or of all. */
export async function queuesOf(
  connection: NatsConnection,
  pool: string,
  named?: readonly string[],
): Promise<TenantQueue[]> {
  const manager = await jetstreamManager(connection, { checkAPI: false });
  if (named) {
    // One by one, because a key of some tenants may not list the queues of all.
    const infos = await Promise.all(named.map((tenant) => infoOf(manager, consumerOf(pool, tenant))));
    return infos.flatMap((info) => queueOf(info, pool));
  }
  const found: TenantQueue[] = [];
  for await (const info of manager.consumers.list(STREAMS.calls)) found.push(...queueOf(info, pool));
  return found;
}

function queueOf(info: ConsumerInfo | undefined, wanted: string): TenantQueue[] {
  const { pool, tenant = '' } = (info && placeOfConsumer(info.name)) ?? {};
  if (!info || pool !== wanted) return [];
  return [{ tenant, hasPriorities: info.config.priority_groups?.includes(PULL_GROUP) ?? false }];
}

async function infoOf(manager: JetStreamManager, name: string): Promise<ConsumerInfo | undefined> {
  try {
    return await manager.consumers.info(STREAMS.calls, name);
  } catch (error) {
    if ((error as { code?: unknown }).code === NO_CONSUMER) return undefined;
    throw error;
  }
}

function byPool(a: PoolLoad, b: PoolLoad): number {
  return a.pool < b.pool ? -1 : 1;
}
