/**
 * Parameters, results and bundles that are too large for a message, in the object store of their tenant: a key of another
 * tenant can neither read nor replace them.
 *
 * @module
 */
import type { NatsConnection } from '@nats-io/transport-node';
import { SkillError } from '../errors.ts';
import { storeOf } from './names.ts';
import { objectDigest, TenantObjects } from './objects.ts';

/** Larger bodies travel by the object store; the servers accept messages of 1 MiB. */
export const MAX_INLINE: number = 512 * 1024;
/** Twice the largest bundle. */
const MAX_OBJECT = 128 * 1024 * 1024;
/** Objects expire after a day, and a call waits for an hour at most. */
const RENEW_MS = 12 * 3_600_000;

export class Stores {
  readonly #connection: NatsConnection;

  constructor(connection: NatsConnection) {
    this.#connection = connection;
  }

  async putLarge(tenant: string, name: string, bytes: Uint8Array): Promise<void> {
    if (bytes.length > MAX_OBJECT) throw tooLarge(bytes.length);
    await this.#of(tenant).put(name, bytes);
  }

  async getLarge(tenant: string, name: string): Promise<Uint8Array> {
    const bytes = await this.#get(tenant, name);
    if (bytes) return bytes;
    throw new SkillError('internal', `The cluster has no object ${JSON.stringify(name)}`, {
      fix: 'Call the skill again. If this happens again, check the storage limits of the servers.',
    });
  }

  /** Frees the room early; otherwise the object expires. */
  dropLarge(tenant: string, name: string): void {
    this.#of(tenant)
      .drop(name)
      .catch(() => 'it expires by itself');
  }

  /** Puts a bundle where the workers of its tenant find it, unless it is there for long enough. */
  async putBundle(tenant: string, digest: string, bytes: Uint8Array): Promise<void> {
    const known = await this.#of(tenant)
      .info(bundleName(digest))
      .catch(() => undefined);
    // An object with other bytes is replaced, because workers would refuse it.
    const isSame = known?.digest === objectDigest(bytes) && known.size === bytes.length;
    if (isSame && Date.now() - known.at.getTime() < RENEW_MS) return;
    await this.putLarge(tenant, bundleName(digest), bytes);
  }

  getBundle(tenant: string, digest: string): Promise<Uint8Array | undefined> {
    return this.#get(tenant, bundleName(digest));
  }

  async #get(tenant: string, name: string): Promise<Uint8Array | undefined> {
    const objects = this.#of(tenant);
    const info = await objects.info(name);
    if (!info) return undefined;
    // Before a byte of it is read.
    if (info.size > MAX_OBJECT) throw tooLarge(info.size);
    return objects.read(info);
  }

  #of(tenant: string): TenantObjects {
    return new TenantObjects(this.#connection, storeOf(tenant));
  }
}

/** The object with a bundle. */
export function bundleName(digest: string): string {
  return `bundle.${digest.replace(/^sha256:/, '')}`;
}

function tooLarge(bytes: number): SkillError {
  return new SkillError('usage', `An object of ${bytes} bytes is too large for the cluster`, {
    fix: `Send less than ${MAX_OBJECT} bytes.`,
    detail: { bytes, limit: MAX_OBJECT },
  });
}
