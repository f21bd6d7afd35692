/**
 * Idempotency keys: the call that a key belongs to. Only one process can create the entry of a key.
 *
 * @module
 */
import { hash } from 'node:crypto';
import type { KV } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { SkillError } from '../errors.ts';
import { openBucket, retried } from './marks.ts';
import { encode, readKeyEntry, type KeyEntry } from './messages.ts';
import { BUCKETS } from './names.ts';

const WITHIN_MS = 10_000;
const MAX_KEY = 255;

interface Replacement {
  /** The call whose outcome is unknown. */
  lost: KeyEntry;
  wanted: KeyEntry;
}

export class IdempotencyKeys {
  readonly #bucket: KV;

  private constructor(bucket: KV) {
    this.#bucket = bucket;
  }

  static async open(connection: NatsConnection): Promise<IdempotencyKeys> {
    return new IdempotencyKeys(await openBucket(connection, BUCKETS.keys));
  }

  /** Puts another call in the place of one whose outcome is unknown; of several requests, one succeeds and all get its entry. */
  async replace(tenant: string, key: string, { lost, wanted }: Replacement): Promise<KeyEntry> {
    const name = nameOf(tenant, key);
    return retried(WITHIN_MS, async () => {
      const known = await this.#bucket.get(name);
      const entry = known ? readKeyEntry(known.value) : undefined;
      // Another request was faster, or an answer to this one got lost.
      if (!known || (entry && entry.id !== lost.id)) return entry ?? this.claim(tenant, key, wanted);
      await this.#bucket.update(name, encode(wanted), known.revision);
      return wanted;
    });
  }

  /** The entry of the first request with this key. Throws `usage` if that was a different request. */
  async claim(tenant: string, key: string, wanted: KeyEntry): Promise<KeyEntry> {
    assertKey(key);
    const name = nameOf(tenant, key);
    const entry = await retried(WITHIN_MS, async () => {
      try {
        await this.#bucket.create(name, encode(wanted));
        return wanted;
      } catch (error) {
        const known = await this.#bucket.get(name);
        if (!known) throw error;
        return readKeyEntry(known.value);
      }
    });
    if (entry.request === wanted.request) return entry;
    throw new SkillError('usage', 'The idempotency key was used for another request', {
      fix: 'Use a new key for every request that differs.',
    });
  }
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
