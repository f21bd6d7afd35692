/**
 * Parameters, results and bundles that are too large for a message, in object stores. The client of the store compares
 * the parts with the digest that the sender wrote; everything else is checked here.
 *
 * @module
 */
import { hash } from 'node:crypto';
import { Objm, type ObjectStore } from '@nats-io/obj';
import type { NatsConnection } from '@nats-io/transport-node';
import { SkillError } from '../errors.ts';
import { storeOf } from './names.ts';

/** Larger bodies travel by the object store; the servers accept messages of 1 MiB. */
export const MAX_INLINE: number = 512 * 1024;
/** Twice the largest bundle. */
const MAX_OBJECT = 128 * 1024 * 1024;
/** For all parts of an object. */
const READ_MS = 60_000;

export class Stores {
  readonly #connection: NatsConnection;
  readonly #readMs: number;
  readonly #open = new Map<string, Promise<ObjectStore>>();

  constructor(connection: NatsConnection, readMs: number = READ_MS) {
    this.#connection = connection;
    this.#readMs = readMs;
  }

  async putLarge(tenant: string, name: string, bytes: Uint8Array): Promise<void> {
    await this.put(storeOf(tenant), name, bytes);
  }

  async getLarge(tenant: string, name: string): Promise<Uint8Array> {
    const bytes = await this.get(storeOf(tenant), name);
    if (bytes) return bytes;
    throw new SkillError('internal', `The cluster has no object ${JSON.stringify(name)}`, {
      fix: 'Call the skill again. If this happens again, check the storage limits of the servers.',
    });
  }

  /** Frees the room early; otherwise the object expires. */
  dropLarge(tenant: string, name: string): void {
    this.#store(storeOf(tenant))
      .then((store) => store.delete(name))
      .catch(() => 'it expires by itself');
  }

  async put(store: string, name: string, bytes: Uint8Array): Promise<void> {
    if (bytes.length > MAX_OBJECT) throw tooLarge(bytes.length);
    await (await this.#store(store)).putBlob({ name }, bytes);
  }

  /** Whether the store says that it has exactly these bytes under this name. */
  async holds(store: string, name: string, bytes: Uint8Array): Promise<boolean> {
    const info = await (await this.#store(store)).info(name);
    const digest = hash('sha256', bytes, 'base64url');
    // With padding, as the client of the store writes it.
    const isSame = info?.digest.replace(/=*$/, '') === `SHA-256=${digest}`;
    return isSame && !info.deleted && !info.options?.link && info.size === bytes.length;
  }

  /** Believes nothing of what the sender says about the object: not its size, not where it is, not that it is complete. */
  async get(store: string, name: string): Promise<Uint8Array | undefined> {
    const opened = await this.#store(store);
    const info = await opened.info(name);
    if (!info || info.deleted) return undefined;
    // A link would make the reader read the store of another tenant with its own permissions.
    if (info.options?.link) throw unusable('it is a link');
    if (info.size > MAX_OBJECT) throw tooLarge(info.size);
    const found = await opened.get(name);
    if (!found) return undefined;
    found.error.catch(() => undefined);
    if (found.info.bucket !== store || found.info.name !== name) throw unusable('it is another object');
    return readAll(found.data, info.size, this.#readMs);
  }

  #store(name: string): Promise<ObjectStore> {
    const known = this.#open.get(name);
    if (known) return known;
    const opening = new Objm(this.#connection).open(name);
    this.#open.set(name, opening);
    opening.catch(() => this.#open.delete(name));
    return opening;
  }
}

async function readAll(
  data: ReadableStream<Uint8Array>,
  size: number,
  withinMs: number,
): Promise<Uint8Array> {
  const reader = data.getReader();
  const chunks: Uint8Array[] = [];
  let read = 0;
  // Parts that are missing would be waited for without end.
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    reader.cancel().catch(() => undefined);
  }, withinMs);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (isLate) throw unusable('parts of it are missing');
      if (done) break;
      read += value.length;
      if (read > size) throw unusable('it is larger than its size');
      chunks.push(value);
    }
    if (read !== size) throw unusable('it is smaller than its size');
    return Buffer.concat(chunks);
  } finally {
    clearTimeout(timer);
    reader.cancel().catch(() => undefined);
  }
}

function unusable(reason: string): SkillError {
  return new SkillError('skill_unavailable', `An object of the cluster cannot be used: ${reason}`, {
    fix: 'Call the skill again. If this happens again, delete the object with the key of the administrator.',
  });
}

function tooLarge(bytes: number): SkillError {
  return new SkillError('usage', `An object of ${bytes} bytes is too large for the cluster`, {
    fix: `Send less than ${MAX_OBJECT} bytes.`,
    detail: { bytes, limit: MAX_OBJECT },
  });
}
