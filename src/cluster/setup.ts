/**
 * Creates what a cluster needs on its servers: streams, buckets and, for each tenant, consumers and an object store. Needs
 * the key of the administrator.
 *
 * @module
 */
import {
  AckPolicy,
  DiscardPolicy,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
  type JetStreamManager,
  type PriorityPolicy,
  type StreamConfig,
} from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import { Objm } from '@nats-io/obj';
import { nanos, type NatsConnection } from '@nats-io/transport-node';
import { SkillError } from '../errors.ts';
import { BUCKETS, consumerOf, PULL_GROUP, storeOf, STREAMS, subjects, tenantToken } from './names.ts';

/** What one tenant may use of the whole cluster. */
export interface TenantShare {
  name: string;
  /** Calls that may run at the same time, on all workers together. */
  concurrent?: number | undefined;
}

/** Options of `setUpCluster`. */
export interface SetupOptions {
  tenants: readonly TenantShare[];
  pools?: readonly string[];
  /** Calls of one tenant that may wait in a pool. */
  queue?: number;
  /** Calls of all tenants that may wait. */
  queueOfAll?: number;
  /** Copies of every message, on different servers; 1 or 3. */
  replicas?: number;
  /** After this time without a sign, a call is delivered to another worker. */
  ackWaitMs?: number;
}

const HOUR_MS = 3_600_000;
/** How long marks, idempotency keys and kept outcomes exist. */
const WINDOW_MS: number = 24 * HOUR_MS;
const DUPLICATES_MS = 120_000;
const ACK_WAIT_MS = 10_000;

const DEFAULT_QUEUE = 1000;
export const DEFAULT_CONCURRENT = 100;

/** Creates or adjusts streams, buckets and the queues of tenants. */
export async function setUpCluster(connection: NatsConnection, options: SetupOptions): Promise<void> {
  const { replicas = 1, pools = ['default'], tenants } = options;
  const manager = await jetstreamManager(connection);
  for (const config of streamsOf(options)) await addStream(manager, config);
  const buckets = new Kvm(connection);
  for (const name of [BUCKETS.marks, BUCKETS.keys])
    await buckets.create(name, { history: 1, ttl: WINDOW_MS, storage: StorageType.File, replicas });
  const prefersWarm = hasPriorities(connection);
  const stores = new Objm(connection);
  const kept = { storage: StorageType.File, replicas };
  for (const { name, concurrent = DEFAULT_CONCURRENT } of tenants) {
    const tenant = tenantToken(name);
    await stores.create(storeOf(tenant), { ...kept, ttl: nanos(WINDOW_MS) });
    for (const pool of pools)
      await addConsumer(manager, { ...options, pool, tenant, concurrent, prefersWarm });
  }
}

function streamsOf({ queue = DEFAULT_QUEUE, queueOfAll, replicas = 1 }: SetupOptions): StreamSettings[] {
  const shared = {
    storage: StorageType.File,
    num_replicas: replicas,
    duplicate_window: nanos(DUPLICATES_MS),
  };
  return [
    {
      ...shared,
      name: STREAMS.calls,
      subjects: ['sc.job.*.*'],
      retention: RetentionPolicy.Workqueue,
      // The refusal that a publisher gets is the 429 of the caller.
      discard: DiscardPolicy.New,
      discard_new_per_subject: true,
      max_msgs_per_subject: queue,
      max_msgs: queueOfAll ?? queue * 50,
      max_age: nanos(HOUR_MS),
      allow_msg_ttl: true,
    },
    {
      ...shared,
      name: STREAMS.receipts,
      subjects: ['sc.receipt.*'],
      retention: RetentionPolicy.Limits,
      // A forwarder repeats what it is not sure about; each row has its own number on its subject.
      allow_direct: true,
      deny_delete: true,
      deny_purge: true,
    },
  ];
}

type StreamSettings = Partial<StreamConfig> & { name: string };

async function addStream(manager: JetStreamManager, config: StreamSettings): Promise<void> {
  const known = await manager.streams.info(config.name).catch(() => undefined);
  const { config: made } = known
    ? await manager.streams.update(config.name, config)
    : await manager.streams.add(config);
  if (config.allow_msg_ttl && made.allow_msg_ttl !== true)
    throw new SkillError('unenforceable', 'The servers of the cluster ignore the deadline of messages', {
      fix: 'Use a newer nats-server.',
    });
}

/** Servers from 2.12 on. */
function hasPriorities({ info }: NatsConnection): boolean {
  const [major = 0, minor = 0] = (info?.version ?? '').split('.').map(Number);
  return major > 2 || (major === 2 && minor >= 12);
}

async function addConsumer(
  manager: JetStreamManager,
  {
    pool,
    tenant,
    concurrent,
    prefersWarm,
    ackWaitMs = ACK_WAIT_MS,
  }: SetupOptions & { pool: string; tenant: string; concurrent: number; prefersWarm: boolean },
): Promise<void> {
  const name = consumerOf(pool, tenant);
  const filter = { filter_subject: subjects.job(pool, tenant) };
  const settings = { ...filter, ack_wait: nanos(ackWaitMs), max_ack_pending: concurrent };
  // Idle workers where the tenant is warm get its calls first. Older servers serve them in turn.
  // The type is an enum that exists only for the type checker.
  const preference = prefersWarm
    ? { priority_groups: [PULL_GROUP], priority_policy: 'prioritized' as PriorityPolicy }
    : {};
  const known = await manager.consumers.info(STREAMS.calls, name).catch(() => undefined);
  if (known) await manager.consumers.update(STREAMS.calls, name, settings);
  else
    await manager.consumers.add(STREAMS.calls, {
      ...settings,
      ...preference,
      durable_name: name,
      ack_policy: AckPolicy.Explicit,
      // Never given up here: the mark decides whether it may begin.
      max_deliver: -1,
    });
}
