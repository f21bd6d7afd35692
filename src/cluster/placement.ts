/**
 * Chooses the pool of a call from what the workers announce. A call goes only to a pool that enforces everything that its
 * skill declares; a pool whose workers differ is refused, and a weaker pool is never a substitute.
 *
 * @module
 */
import type { NatsConnection, Subscription } from '@nats-io/transport-node';
import { SkillError } from '../errors.ts';
import type { Skill } from '../load/skill.ts';
import type { PairReport } from '../cell/machine.ts';
import { fieldsSetByManifest, sharedByProcesses } from '../policy/enforce-or-refuse.ts';
import { ENGINE_ROWS, type EngineName } from '../vocabulary/engines.ts';
import type { Mode } from '../vocabulary/modes.ts';
import { poolName, token } from './names.ts';
import { readAnnouncement, type Announcement } from './messages.ts';

export const ANNOUNCE_MS = 1000;
/** A worker that was silent for this long counts as gone. */
const STALE_MS = 5 * ANNOUNCE_MS;
/** On its first call, a front end waits this long for announcements. */
const FIRST_MS = 3 * ANNOUNCE_MS;
const MAX_WORKERS = 10_000;

/** Pool, tenant and name are in the subject, because the server checks only that. */
export const ANNOUNCE_SUBJECT = 'sc.worker';
/** Not the token of any tenant. */
const ALL_TENANTS = '_';
export const HELLO_SUBJECT = 'sc.hello';

/** The pairs of `doctor` as a worker announces them. */
export function announcedPairs(pairs: readonly PairReport[]): Announcement['pairs'] {
  return pairs
    .filter(({ available }) => available)
    .map(({ mode, wall, engine, enforces }) => ({
      mode,
      wall,
      engine,
      unenforced: Object.entries(enforces)
        .filter(([, { by }]) => by === 'nobody')
        .map(([field]) => field)
        .toSorted(),
    }));
}

/** Where a worker announces itself: for all tenants, or for each of its own. */
export function announceSubjects(pool: string, name: string, tenants?: readonly string[]): string[] {
  return (tenants ?? [ALL_TENANTS]).map(
    (tenant) => `${ANNOUNCE_SUBJECT}.${poolName(pool)}.${token(tenant)}.${token(name)}`,
  );
}

/** Calls that may go to a pool, as far as announcements show. */
export interface Wish {
  skill: Skill;
  execution?: Mode | undefined;
  /** As a token. */
  tenant: string;
}

interface KnownWorker {
  announcement: Announcement;
  /** Its pairs as text, to compare workers at every call. */
  walls: string;
  at: number;
}

export class Fleet {
  readonly #connection: NatsConnection;
  readonly #known = new Map<string, KnownWorker>();
  readonly #subscription: Subscription;
  #heard = Promise.withResolvers<void>();

  constructor(connection: NatsConnection) {
    this.#connection = connection;
    this.#subscription = connection.subscribe(`${ANNOUNCE_SUBJECT}.*.*.*`, {
      callback: (error, message) => {
        if (!error) this.#hear(message.subject, message.data);
      },
    });
    connection.publish(HELLO_SUBJECT);
  }

  get workers(): Announcement[] {
    return this.#current().map(({ announcement }) => announcement);
  }

  /** The first of the pools that enforces what the skill declares. Throws if there is none. */
  async place(pools: readonly string[], wish: Wish): Promise<string> {
    const until = performance.now() + FIRST_MS;
    let workers = this.#current();
    for (; workers.length === 0 && performance.now() < until; workers = this.#current())
      await this.#next(until);
    const obstacles: string[] = [];
    for (const pool of pools) {
      const obstacle = obstacleOf(pool, workers, wish);
      if (obstacle === undefined) return pool;
      obstacles.push(obstacle);
    }
    throw new SkillError('skill_unavailable', `No pool can run this call: ${obstacles.join('; ')}`, {
      fix: 'Start workers whose machine and policy fit: `skillcell worker --pool NAME`, and see `skillcell cluster status`.',
      detail: { pools: [...pools] },
    });
  }

  close(): void {
    this.#subscription.unsubscribe();
  }

  #current(): KnownWorker[] {
    const oldest = performance.now() - STALE_MS;
    for (const [name, { at }] of this.#known) if (at < oldest) this.#known.delete(name);
    return [...this.#known.values()];
  }

  async #next(until: number): Promise<void> {
    this.#connection.publish(HELLO_SUBJECT);
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, Math.min(500, until - performance.now()));
    await Promise.race([this.#heard.promise, promise]);
    clearTimeout(timer);
  }

  /** One message for each tenant arrives. A restart of the worker begins again. */
  #tenantsOf({ name, boot, pool }: Announcement, tenant: string): string[] {
    const known = this.#known.get(name)?.announcement;
    const isSame = known?.boot === boot && known.pool === pool;
    return [...new Set([...((isSame ? known.tenants : undefined) ?? []), tenant])];
  }

  #hear(subject: string, data: Uint8Array): void {
    let announcement: Announcement;
    try {
      announcement = readAnnouncement(data);
    } catch {
      return;
    }
    // The server has checked who may publish on this subject; what the message says beyond it does not count.
    const [, , pool = '', tenant = '', name = ''] = subject.split('.');
    if (name !== announcement.name || pool !== announcement.pool) return;
    if (this.#known.size >= MAX_WORKERS && !this.#known.has(name)) return;
    const tenants = tenant === ALL_TENANTS ? undefined : this.#tenantsOf(announcement, tenant);
    const walls = JSON.stringify(announcement.pairs);
    this.#known.set(name, { announcement: { ...announcement, tenants }, walls, at: performance.now() });
    this.#heard.resolve();
    this.#heard = Promise.withResolvers();
  }
}

/** Why the pool cannot run it; undefined if it can. */
function obstacleOf(
  pool: string,
  workers: readonly KnownWorker[],
  { skill, execution, tenant }: Wish,
): string | undefined {
  const members = workers.filter(
    ({ announcement: one }) => one.pool === pool && (one.tenants?.includes(tenant) ?? true),
  );
  const first = members.find(({ announcement }) => !announcement.isDraining)?.announcement;
  if (!first) return `no worker of the pool "${pool}" is running`;
  const policies = new Set(members.map(({ announcement }) => announcement.policy));
  if (policies.size > 1) return `the workers of the pool "${pool}" have different policies`;
  const walls = new Set(members.map((one) => one.walls));
  if (walls.size > 1) return `the workers of the pool "${pool}" enforce different things`;
  return first.pairs.some((pair) => fits(pair, skill, execution))
    ? undefined
    : `no wall of the pool "${pool}" enforces everything that "${skill.bundle.manifest.name}" declares`;
}

function fits(
  { mode, engine, unenforced }: Announcement['pairs'][number],
  { bundle: { manifest, kind } }: Skill,
  execution: Mode | undefined,
): boolean {
  const { execution: declared } = manifest;
  const modes = execution === undefined ? declared : [execution];
  if (modes.length > 0 && !modes.includes(mode)) return false;
  const row = Object.hasOwn(ENGINE_ROWS, engine) ? ENGINE_ROWS[engine as EngineName] : undefined;
  const isForKind = row === undefined || row.kinds.some((one) => one === kind);
  const fields = fieldsSetByManifest(manifest);
  const needed = [...fields, ...sharedByProcesses(manifest, new Set(fields))];
  return isForKind && !needed.some((field) => unenforced.includes(field));
}
