/**
 * NKeys: one for each process, with the least that its role needs.
 *
 * @module
 */
import { nkeys } from '@nats-io/transport-node';
import { SkillError } from '../errors.ts';
import { inboxOf } from './connect.ts';
import { BUCKETS, consumerOf, poolName, storeOf, STREAMS, tenantToken, token } from './names.ts';
import { ANNOUNCE_SUBJECT, HELLO_SUBJECT } from './placement.ts';

/** What a process of a cluster is for. */
const ROLES = {
  admin: 'creates streams and consumers; not for services',
  front: 'sends calls and hears their replies: `serve --cluster`, `mcp --cluster`',
  worker: 'runs calls',
  auditor: 'reads receipts and marks: `audit verify --cluster`',
} as const;
export type Role = keyof typeof ROLES;

/** One key. */
export interface KeyRequest {
  role: Role;
  /** Name of the process. */
  name: string;
  /** Absent: all tenants. */
  tenants?: readonly string[] | undefined;
  /** Pools that a front end may send to, or the one of a worker; absent: all. */
  pools?: readonly string[] | undefined;
}

export interface Permissions {
  publish: string[];
  subscribe: string[];
}

/** A new key, and what its owner may do. */
export interface MadeKey extends KeyRequest {
  publicKey: string;
  seed: string;
}

export function makeKey(request: KeyRequest): MadeKey {
  token(request.name);
  assertEnforceable(request);
  const made = nkeys.createUser();
  const seed = new TextDecoder().decode(made.getSeed());
  return { ...request, publicKey: made.getPublicKey(), seed };
}

/** A limit that the server could not keep is refused: wildcards cannot stand for a part of the name of a queue. */
function assertEnforceable({ role, name, tenants = ['*'], pools = ['*'] }: KeyRequest): void {
  const isLimited = { tenants: !tenants.includes('*'), pools: !pools.includes('*') };
  if (role === 'front' || (!isLimited.tenants && !isLimited.pools)) return;
  if (role !== 'worker')
    throw new SkillError('usage', `A key of the role "${role}" cannot be limited to tenants or pools`, {
      fix: `Pass ${role}:${name}.`,
    });
  if (isLimited.tenants && isLimited.pools) return;
  const given = isLimited.tenants ? 'tenants' : 'pools';
  const missing = isLimited.tenants ? 'pools' : 'tenants';
  throw new SkillError('usage', `A key of a worker cannot be limited to ${given} only`, {
    fix: `Name its ${missing} as well: worker:${name}:${isLimited.tenants ? tenants.join(',') : 'TENANT'}:${isLimited.pools ? pools.join(',') : 'default'}`,
  });
}

/** What a key may publish and hear. Everything else is refused by the server. */
export function permissionsOf({ role, name, tenants = ['*'], pools = ['*'] }: KeyRequest): Permissions {
  const own = { inbox: `${inboxOf(name)}.>`, tenants: tenants.map(anyOr(tenantToken)) };
  if (role === 'admin') return { publish: ['>'], subscribe: ['>'] };
  if (role === 'auditor')
    return {
      publish: [
        '$JS.API.INFO',
        ...streamReader(STREAMS.receipts),
        ...streamReader(`KV_${BUCKETS.marks}`),
        HELLO_SUBJECT,
        'sc.alive.*',
      ],
      subscribe: [own.inbox, `${ANNOUNCE_SUBJECT}.*.*.*`],
    };
  return role === 'front'
    ? frontPermissions(name, own, pools)
    : workerPermissions(name, own, { tenants, pools });
}

interface Own {
  inbox: string;
  tenants: string[];
}

function frontPermissions(name: string, { inbox, tenants }: Own, pools: readonly string[]): Permissions {
  return {
    publish: [
      '$JS.API.INFO',
      HELLO_SUBJECT,
      // The list names all tenants, so a key of some of them may not read it.
      ...(tenants.includes('*') ? [`$JS.API.CONSUMER.LIST.${STREAMS.calls}`] : []),
      ...pools.flatMap((pool) => tenants.map((tenant) => `sc.job.${pool}.${tenant}`)),
      ...tenants.map((tenant) => `sc.cancel.${tenant}.*`),
      'sc.alive.*',
      ...tenants.flatMap((tenant) => [`$KV.${BUCKETS.marks}.${tenant}.*`, `$KV.${BUCKETS.keys}.${tenant}.*`]),
      ...[BUCKETS.marks, BUCKETS.keys].flatMap((bucket) => bucketReader(bucket, tenants)),
      ...largeStores(tenants),
      ...receiptWriter(name),
    ],
    subscribe: [inbox, `sc.reply.*.${name}.*`, `${ANNOUNCE_SUBJECT}.*.*.*`],
  };
}

function workerPermissions(
  name: string,
  { inbox, tenants }: Own,
  only: { tenants: readonly string[]; pools: readonly string[] },
): Permissions {
  // `assertEnforceable` made sure that both are limited, or neither.
  const isAny = only.tenants.includes('*');
  const consumers = isAny
    ? ['*']
    : only.pools.flatMap((pool) => tenants.map((tenant) => consumerOf(pool, tenant)));
  return {
    publish: [
      '$JS.API.INFO',
      // The list names all tenants, so a worker of some of them asks for each queue by its name.
      ...(isAny ? [`$JS.API.CONSUMER.LIST.${STREAMS.calls}`] : []),
      ...consumers.flatMap((consumer) => [
        `$JS.API.CONSUMER.INFO.${STREAMS.calls}.${consumer}`,
        `$JS.API.CONSUMER.MSG.NEXT.${STREAMS.calls}.${consumer}`,
        `$JS.ACK.${STREAMS.calls}.${consumer}.>`,
      ]),
      ...tenants.map((tenant) => `sc.reply.${tenant}.*.*`),
      ...tenants.map((tenant) => `$KV.${BUCKETS.marks}.${tenant}.*`),
      ...bucketReader(BUCKETS.marks, tenants),
      'sc.alive.*',
      ...only.pools.flatMap((pool) =>
        tenants.map((tenant) => `${ANNOUNCE_SUBJECT}.${pool}.${tenant}.${name}`),
      ),
      ...largeStores(tenants),
      ...receiptWriter(name),
    ],
    subscribe: [
      inbox,
      ...tenants.map((tenant) => `sc.cancel.${tenant}.*`),
      `sc.alive.${name}`,
      HELLO_SUBJECT,
    ],
  };
}

/** Only its own chain. */
function receiptWriter(name: string): string[] {
  const subject = `sc.receipt.${name}`;
  return [subject, `$JS.API.DIRECT.GET.${STREAMS.receipts}.${subject}`];
}

/** One entry at a time: a description of the stream would name the calls of all tenants. */
function bucketReader(bucket: string, tenants: readonly string[] = ['*']): string[] {
  return tenants.map((tenant) => `$JS.API.DIRECT.GET.KV_${bucket}.$KV.${bucket}.${tenant}.*`);
}

/** Message by message: a consumer would deliver anywhere that its owner names. */
function streamReader(stream: string): string[] {
  return [`$JS.API.STREAM.INFO.${stream}`, `$JS.API.DIRECT.GET.${stream}`];
}

/** The stores of its tenants. A wildcard cannot be a part of a token, so a key for all tenants may use all stores. */
function largeStores(tenants: readonly string[]): string[] {
  if (tenants.includes('*')) return ['$O.*.>', '$JS.API.DIRECT.GET.*', '$JS.API.DIRECT.GET.*.$O.>'];
  return tenants.flatMap((tenant) => {
    const store = storeOf(tenant);
    return [`$O.${store}.>`, `$JS.API.DIRECT.GET.OBJ_${store}`, `$JS.API.DIRECT.GET.OBJ_${store}.$O.>`];
  });
}

/** What a key for the stores of all tenants would open as well. */
export const NEVER: readonly string[] = [
  ...Object.values(STREAMS),
  ...Object.values(BUCKETS).map((bucket) => `KV_${bucket}`),
].map((stream) => `$JS.API.DIRECT.GET.${stream}`);

function anyOr(toToken: (name: string) => string): (name: string) => string {
  return (name) => (name === '*' ? '*' : toToken(name));
}

/** `worker:name` or `front:name:tenant,tenant` as keys are named on the command line. */
export function parseKeyRequest(text: string): KeyRequest {
  const [role = '', name = '', tenants, pools] = text.split(':');
  if (!Object.hasOwn(ROLES, role) || name === '')
    throw new SkillError('usage', `${JSON.stringify(text)} does not name a key`, {
      fix: `Pass ROLE:NAME or ROLE:NAME:TENANT,TENANT:POOL, with one of the roles ${Object.keys(ROLES).join(', ')}.`,
    });
  return {
    role: role as Role,
    name: token(name),
    ...(tenants ? { tenants: tenants.split(',') } : {}),
    ...(pools ? { pools: pools.split(',').map(anyOr(poolName)) } : {}),
  };
}
