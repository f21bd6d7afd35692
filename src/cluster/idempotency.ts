/**
 * Idempotency keys: the call that a key belongs to. Only one process can create the entry of a key.
 *
 * @module
 */
import { hash } from 'node:crypto';
import type { KV } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { SkillError } from '../errors.ts';
import { type Marks, openBucket, retried } from './marks.ts';
import { encode, readKeyEntry, type KeyEntry } from './messages.ts';
import { BUCKETS } from './names.ts';

const WITHIN_MS = 10_000;
const MAX_KEY = 255;
const ATTEMPTS = 5;

/** A request with a key. */
export interface KeyedRequest {
  tenant: string;
  key: string;
  wanted: KeyEntry;
}

interface Replacement {
  /** The call whose outcome is unknown. */
  lost: KeyEntry;
  wanted: KeyEntry;
}

export class IdempotencyKeys {
  readonly #bucket: KV;
  readonly #marks: Marks;

  private constructor(bucket: KV, marks: Marks) {
    this.#bucket = bucket;
    this.#marks = marks;
  }

  static async open(connection: NatsConnection, marks: Marks): Promise<IdempotencyKeys> {
    return new IdempotencyKeys(await openBucket(connection, BUCKETS.keys), marks);
  }

  /** Puts another call in the place of one whose outcome is unknown; of several requests, one succeeds and all get its entry. */
  async replace(tenant: string, key: string, { lost, wanted }: Replacement): Promise<KeyEntry> {
    const name = nameOf(tenant, key);
    return retried(WITHIN_MS, async () => {
      const known = await this.#bucket.get(name);
      const entry = known ? readKeyEntry(known.value) : undefined;
      // Another request was faster, or an answer to this one got lost.
      if (!known || (entry && entry.id !== lost.id)) return entry ?? this.claim({ tenant, key, wanted });
      await this.#bucket.update(name, encode(wanted), known.revision);
      return wanted;
    });
  }

  /** The entry of the first request with this key that was not taken back. Throws `usage` if that was a different request. */
  async claim({ tenant, key, wanted }: KeyedRequest): Promise<KeyEntry> {
    assertKey(key);
    const name = nameOf(tenant, key);
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const known = await retried(WITHIN_MS, () => this.#createOrRead(name, wanted));
      if (!known || known.entry.id === wanted.id) return wanted;
      if (known.entry.request !== wanted.request) throw otherRequest();
      // A call that never began has no outcome to repeat, and never will.
      const mark = await this.#marks.get({ tenant, id: known.entry.id }, WITHIN_MS);
      if (mark?.state !== 'cancelled') return known.entry;
      if (await this.#replace(name, wanted, known.revision)) return wanted;
    }
    throw tooBusy();
  }

  /** Undefined if the entry is ours. */
  async #createOrRead(
    name: string,
    wanted: KeyEntry,
  ): Promise<{ entry: KeyEntry; revision: number } | undefined> {
    try {
      await this.#bucket.create(name, encode(wanted));
      return undefined;
    } catch (error) {
      const known = await this.#bucket.get(name);
      if (!known) throw error;
      return { entry: readKeyEntry(known.value), revision: known.revision };
    }
  }

  /** False if another request did so first. */
  async #replace(name: string, wanted: KeyEntry, revision: number): Promise<boolean> {
    return this.#bucket.update(name, encode(wanted), revision).then(
      () => true,
      () => false,
    );
  }
}

function otherRequest(): SkillError {
  return new SkillError('usage', 'The idempotency key was used for another request', {
    fix: 'Use a new key for every request that differs.',
  });
}

function tooBusy(): SkillError {
  return new SkillError('resource_exceeded', 'Too many requests with this idempotency key at the same time', {
    fix: 'Try again after 1000 ms.',
    detail: { limit: 'busy', scope: 'cluster', retry_after_ms: 1000 },
  });
}

/** The key itself may be confidential, and may have any characters. */
function nameOf(tenant: string, key: string): string {
  return `${tenant}.${hash('sha256', key, 'hex')}`;
}

function assertKey(key: string): void {
  if (key.length > 0 && key.length <= MAX_KEY) return;
  throw new SkillError('usage', `The idempotency key has ${key.length} characters`, {
    fix: `Use 1 to ${MAX_KEY} characters.`,
  });
}
