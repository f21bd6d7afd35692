/**
 * One object of an object store, in the format of NATS. Read message by message: a consumer would deliver anywhere, a link
 * would lead to the store of another tenant, and the size that a sender claims must bound what is read.
 *
 * @module
 */
import { createHash, hash, randomBytes } from 'node:crypto';
import { jetstream, jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import { headers, type NatsConnection } from '@nats-io/transport-node';
import { z } from 'zod';
import { SkillError } from '../errors.ts';

const CHUNK = 128 * 1024;
const PUBLISH_MS = 5000;

const infoSchema = z.looseObject({
  nuid: z.string().regex(/^[A-Za-z0-9]{1,64}$/),
  size: z.int().min(0),
  digest: z.string().max(100),
  deleted: z.boolean().optional(),
  options: z.looseObject({ link: z.unknown().optional() }).optional(),
});

/** What the store knows of an object. */
interface ObjectInfo {
  nuid: string;
  /** As its sender claims it. */
  size: number;
  digest: string;
  /** When it was stored. */
  at: Date;
}

export class TenantObjects {
  readonly #connection: NatsConnection;
  readonly #store: string;

  constructor(connection: NatsConnection, store: string) {
    this.#connection = connection;
    this.#store = store;
  }

  /** Undefined if there is no such object. Throws for a link: it could lead to what only the reader may read. */
  async info(name: string): Promise<ObjectInfo | undefined> {
    const manager = await this.#manager();
    const found = await manager.direct.getMessage(`OBJ_${this.#store}`, { last_by_subj: this.#meta(name) });
    if (!found || found.data.length === 0) return undefined;
    const parsed = infoSchema.safeParse(jsonOf(found.data));
    if (!parsed.success) throw unusable('its description is not valid');
    const { nuid, size, digest, deleted, options } = parsed.data;
    if (deleted) return undefined;
    if (options?.link !== undefined) throw unusable('it is a link');
    return { nuid, size, digest, at: found.time };
  }

  /** Exactly the bytes that the description promises; throws for any others. */
  async read({ nuid, size, digest }: ObjectInfo): Promise<Buffer> {
    const manager = await this.#manager();
    const subject = this.#chunks(nuid);
    const parts: Uint8Array[] = [];
    const sum = createHash('sha256');
    let bytes = 0;
    for (let seq = 1; bytes < size;) {
      const part = await manager.direct.getMessage(`OBJ_${this.#store}`, { seq, next_by_subj: subject });
      if (!part || part.data.length === 0) throw unusable('parts of it are missing');
      bytes += part.data.length;
      if (bytes > size) throw unusable('it is larger than its size');
      sum.update(part.data);
      parts.push(part.data);
      seq = part.seq + 1;
    }
    if (digest.replace(/=+$/, '') !== `SHA-256=${sum.digest('base64url')}`)
      throw unusable('its digests do not match');
    return Buffer.concat(parts);
  }

  async put(name: string, bytes: Uint8Array): Promise<void> {
    const client = jetstream(this.#connection);
    const before = await this.info(name).catch(() => undefined);
    const nuid = randomBytes(11).toString('hex');
    for (let at = 0; at < bytes.length; at += CHUNK)
      await client.publish(this.#chunks(nuid), bytes.subarray(at, at + CHUNK), { timeout: PUBLISH_MS });
    const digest = objectDigest(bytes);
    const chunks = Math.ceil(bytes.length / CHUNK);
    await this.#describe(name, { bucket: this.#store, name, nuid, size: bytes.length, chunks, digest });
    if (before) await this.#empty(before.nuid);
  }

  /** Frees its room. */
  async drop(name: string): Promise<void> {
    const known = await this.info(name);
    if (!known) return;
    const { nuid } = known;
    await this.#describe(name, {
      bucket: this.#store,
      name,
      nuid,
      size: 0,
      chunks: 0,
      digest: '',
      deleted: true,
    });
    await this.#empty(nuid);
  }

  async #describe(name: string, info: object): Promise<void> {
    await this.#replace(this.#meta(name), Buffer.from(JSON.stringify(info)));
  }

  /** Replaces all parts by nothing, for which no key needs the right to purge a stream. */
  async #empty(nuid: string): Promise<void> {
    await this.#replace(this.#chunks(nuid), Buffer.alloc(0));
  }

  async #replace(subject: string, bytes: Uint8Array): Promise<void> {
    const rollup = headers();
    rollup.set('Nats-Rollup', 'sub');
    await jetstream(this.#connection).publish(subject, bytes, { headers: rollup, timeout: PUBLISH_MS });
  }

  #meta(name: string): string {
    const encoded = Buffer.from(name).toString('base64url');
    return `$O.${this.#store}.M.${encoded}${'='.repeat((4 - (encoded.length % 4)) % 4)}`;
  }

  #chunks(nuid: string): string {
    return `$O.${this.#store}.C.${nuid}`;
  }

  #manager(): Promise<JetStreamManager> {
    return jetstreamManager(this.#connection, { checkAPI: false });
  }
}

/** As the client of the store writes it. */
export function objectDigest(bytes: Uint8Array): string {
  return `SHA-256=${hash('sha256', bytes, 'base64url')}=`;
}

function unusable(reason: string): SkillError {
  return new SkillError('skill_unavailable', `An object of the cluster cannot be used: ${reason}`, {
    fix: 'Call the skill again. If this happens again, delete the object with the key of the administrator.',
  });
}

function jsonOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch {
    return undefined;
  }
}
