/**
 * Marks decide who may begin a call. Only one process can create a mark, so a call begins at most once, however often its
 * message is delivered.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Kvm, type KV } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { BUCKETS, subjects } from './names.ts';
import { encode, readMark, type Mark } from './messages.ts';

const PAUSE_MS = 100;

/** The call that a mark belongs to. */
export interface MarkedCall {
  tenant: string;
  id: string;
  /** Of the attempt to take it; absent: a new one. */
  nonce?: string;
}

export type Taken = { isMine: true } | { isMine: false; mark: Mark };

export class Marks {
  readonly #bucket: KV;
  readonly #by: string;

  constructor(bucket: KV, by: string) {
    this.#bucket = bucket;
    this.#by = by;
  }

  static async open(connection: NatsConnection, by: string): Promise<Marks> {
    return new Marks(await openBucket(connection, BUCKETS.marks), by);
  }

  /**
   * Creates the mark, or says whose it is. An answer that got lost is not a refusal: the nonce tells whether the mark is of
   * this attempt. Rejects when the servers cannot be reached in time; then it is not known.
   */
  async take(
    { tenant, id, nonce = randomBytes(12).toString('hex') }: MarkedCall,
    state: Mark['state'],
    withinMs: number,
  ): Promise<Taken> {
    const key = subjects.mark(tenant, id);
    const value = encode({ state, by: this.#by, nonce } satisfies Mark);
    return retried(withinMs, async () => {
      try {
        await this.#bucket.create(key, value);
        return { isMine: true };
      } catch (error) {
        const mark = await this.#read(key);
        if (!mark) throw error;
        return mark.nonce === nonce ? { isMine: true } : { isMine: false, mark };
      }
    });
  }

  get({ tenant, id }: MarkedCall, withinMs: number): Promise<Mark | undefined> {
    return retried(withinMs, () => this.#read(subjects.mark(tenant, id)));
  }

  /** Only by the process that created the mark. */
  async finish({ tenant, id }: MarkedCall, isStored: boolean): Promise<void> {
    const mark: Mark = { state: 'done', by: this.#by, nonce: 'end', ...(isStored ? { isStored } : {}) };
    await this.#bucket.put(subjects.mark(tenant, id), encode(mark));
  }

  async #read(key: string): Promise<Mark | undefined> {
    const entry = await this.#bucket.get(key);
    return entry && entry.operation === 'PUT' ? readMark(entry.value) : undefined;
  }
}

export function openBucket(connection: NatsConnection, name: string): Promise<KV> {
  return new Kvm(connection).open(name, { allow_direct: true });
}

/** Servers restart and elect leaders: an error is final only after this time. */
export async function retried<T>(withinMs: number, attempt: () => Promise<T>): Promise<T> {
  const until = performance.now() + withinMs;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() + PAUSE_MS > until) throw error;
      await sleep(PAUSE_MS);
    }
  }
}
