/**
 * Parameters, results and bundles that are too large for a message, in object stores. The client of the store verifies
 * every digest while it reads.
 *
 * @module
 */
import { Objm, type ObjectStore } from '@nats-io/obj';
import type { NatsConnection } from '@nats-io/transport-node';
import { SkillError } from '../errors.ts';
import { storeOf } from './names.ts';

/** Larger bodies travel by the object store; the servers accept messages of 1 MiB. */
export const MAX_INLINE: number = 512 * 1024;
/** Twice the largest bundle. */
const MAX_OBJECT = 128 * 1024 * 1024;

export class Stores {
  readonly #connection: NatsConnection;
  readonly #open = new Map<string, Promise<ObjectStore>>();

  constructor(connection: NatsConnection) {
    this.#connection = connection;
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

  async has(store: string, name: string): Promise<boolean> {
    return (await (await this.#store(store)).info(name)) !== null;
  }

  async get(store: string, name: string): Promise<Uint8Array | undefined> {
    const opened = await this.#store(store);
    const info = await opened.info(name);
    if (!info) return undefined;
    // Before a byte of it is read: its sender may lie about nothing but the size.
    if (info.size > MAX_OBJECT) throw tooLarge(info.size);
    return (await opened.getBlob(name)) ?? undefined;
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

function tooLarge(bytes: number): SkillError {
  return new SkillError('usage', `An object of ${bytes} bytes is too large for the cluster`, {
    fix: `Send less than ${MAX_OBJECT} bytes.`,
    detail: { bytes, limit: MAX_OBJECT },
  });
}
