/**
 * The bundles that a front end has put into the stores of tenants.
 *
 * @module
 */
import { SkillError } from '../errors.ts';
import type { Bundle } from '../load/bundle.ts';
import { packBundle } from './bundles.ts';
import { retried } from './marks.ts';
import type { Stores } from './stores.ts';

/** How long a front end believes that a store has a bundle. */
const ASK_AGAIN_MS = 60_000;
const MAX_PUBLISHED = 10_000;
/** For a server that restarts. */
const BUNDLE_MS = 10_000;

export class PublishedBundles {
  readonly #stores: Stores;
  /** By tenant and digest. */
  readonly #published = new Map<string, { done: Promise<void>; at: number }>();

  constructor(stores: Stores) {
    this.#stores = stores;
  }

  /** Puts the bundle where workers of the tenant find it by its digest, once in a while. */
  publish(tenant: string, bundle: Bundle): Promise<void> {
    // Every worker has the same bundled skills, or another version of Skillcell.
    if (bundle.origin === 'bundled') return Promise.resolve();
    const key = `${tenant} ${bundle.digest}`;
    const known = this.#published.get(key);
    if (known && performance.now() - known.at < ASK_AGAIN_MS) return known.done;
    const bytes = packBundle(bundle);
    const putting = retried(BUNDLE_MS, () => this.#stores.putBundle(tenant, bundle.digest, bytes));
    const done = putting.catch((cause: unknown) => {
      throw notPublished(bundle.manifest.name, cause);
    });
    this.#published.delete(key);
    this.#published.set(key, { done, at: performance.now() });
    done.catch(() => this.#published.delete(key));
    const [oldest] = this.#published.keys();
    if (this.#published.size > MAX_PUBLISHED && oldest !== undefined) this.#published.delete(oldest);
    return done;
  }
}

function notPublished(skill: string, cause: unknown): SkillError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new SkillError('skill_unavailable', `The cluster did not take the files of "${skill}": ${reason}`, {
    fix: 'Check the connection to the servers, and call it again.',
    cause,
  });
}
