/**
 * The tenants whose calls ran last on a worker. Warm processes belong to one tenant, so their next calls are fastest here.
 *
 * @module
 */

/** As many as a worker keeps loaded skills. */
const MOST = 64;

export class RecentTenants {
  /** The latest last. */
  readonly #tenants = new Set<string>();

  has(tenant: string): boolean {
    return this.#tenants.has(tenant);
  }

  add(tenant: string): void {
    this.#tenants.delete(tenant);
    this.#tenants.add(tenant);
    const [oldest] = this.#tenants;
    if (this.#tenants.size > MOST && oldest !== undefined) this.#tenants.delete(oldest);
  }
}
