/**
 * Subjects, streams and buckets of a cluster. Every subject is built here from checked tokens, and never taken from a
 * message: anyone who could choose a reply subject could make a worker write anywhere.
 *
 * @module
 */
import { hash } from 'node:crypto';
import { SkillError } from '../errors.ts';

/** Streams of the cluster. */
export const STREAMS = { calls: 'SC_CALLS', receipts: 'SC_RECEIPTS' } as const;

/** Key-value buckets of the cluster. */
export const BUCKETS = {
  /** Who may begin a call, and how far it is. */
  marks: 'sc_marks',
  /** Calls by idempotency key. */
  keys: 'sc_keys',
} as const;

const TOKEN = /^[A-Za-z0-9_-]{1,64}$/;
const PLAIN = /^[a-z0-9]{1,32}$/;

/** A part of a subject, without dots and wildcards. */
export function token(text: string): string {
  if (TOKEN.test(text)) return text;
  throw new SkillError('usage', `${JSON.stringify(text.slice(0, 80))} cannot be a name in a cluster`, {
    fix: 'Use 1 to 64 letters, digits, "-" and "_".',
  });
}

/** The name of a pool: no dashes, because consumers are named after pool and tenant. */
export function poolName(text: string): string {
  if (PLAIN.test(text)) return text;
  throw new SkillError('usage', `${JSON.stringify(text.slice(0, 80))} is not a valid name of a pool`, {
    fix: 'Use 1 to 32 lowercase letters and digits.',
  });
}

/** A tenant as a token. Other characters are replaced by a digest, so that two tenants never share one. */
export function tenantToken(tenant: string): string {
  if (TOKEN.test(tenant) && /^[A-Za-z0-9]/.test(tenant) && !tenant.startsWith('x-')) return tenant;
  return `x-${hash('sha256', tenant, 'hex').slice(0, 32)}`;
}

/** Subjects, each from its tokens. `*` is allowed where somebody listens. */
export const subjects = {
  /** One for all skills of a tenant: the servers bound the messages of a subject, and so the queue of a tenant. */
  job: (pool: string, tenant: string): string => `sc.job.${poolName(pool)}.${token(tenant)}`,
  reply: (tenant: string, front: string, call: string): string =>
    `sc.reply.${token(tenant)}.${token(front)}.${token(call)}`,
  repliesTo: (front: string): string => `sc.reply.*.${token(front)}.*`,
  cancel: (tenant: string, call: string): string => `sc.cancel.${token(tenant)}.${token(call)}`,
  allCancels: 'sc.cancel.*.*',
  alive: (worker: string): string => `sc.alive.${token(worker)}`,
  receipt: (writer: string): string => `sc.receipt.${token(writer)}`,
  mark: (tenant: string, call: string): string => `${token(tenant)}.${token(call)}`,
} as const;

/** The consumer of a tenant's calls in a pool. */
export function consumerOf(pool: string, tenant: string): string {
  return `P-${poolName(pool)}-${token(tenant)}`;
}

/** The group of every worker that takes calls from a queue; servers from 2.12 on serve its members by priority. */
export const PULL_GROUP = 'workers';

/** The reverse of `consumerOf`; undefined for any other consumer. */
export function placeOfConsumer(name: string): { pool: string; tenant: string } | undefined {
  const [, pool, tenant] = /^P-([a-z0-9]{1,32})-([A-Za-z0-9_-]{1,64})$/.exec(name) ?? [];
  return pool !== undefined && tenant !== undefined ? { pool, tenant } : undefined;
}

/** The object store of a tenant's bundles and large parameters and results, so that a key can be limited to it. */
export function storeOf(tenant: string): string {
  return `sc_large_${token(tenant)}`;
}
