/**
 * Quotas of tenants: calls, CPU time and output per period. Every call counts with what it used, however it ended. A call
 * that starts within the quota may exceed it; the next one is refused until the period ends.
 *
 * @module
 */
import { type Quota, SkillError, type Usage } from '../inside.ts';

type Resource = 'calls' | 'cpu' | 'output';
const RESOURCES: readonly Resource[] = ['calls', 'cpu', 'output'];

interface Period extends Record<Resource, number> {
  startedAt: number;
}

/** What a tenant used in its current period, and how much it may use. */
export interface QuotaUse {
  tenant: string;
  resource: Resource;
  used: number;
  limit: number;
}

export class Quotas {
  readonly #quotaOf: (tenant: string) => Quota | undefined;
  readonly #now: () => number;
  /** Only of tenants with a quota, which are named by tokens, so that there are never many. */
  readonly #periods = new Map<string, Period>();

  constructor(quotaOf: (tenant: string) => Quota | undefined, now: () => number = () => performance.now()) {
    this.#quotaOf = quotaOf;
    this.#now = now;
  }

  /** Throws if the quota is used up. */
  assertLeft(tenant: string): void {
    const quota = this.#quotaOf(tenant);
    if (!quota) return;
    const period = this.#period(tenant, quota);
    const full = RESOURCES.find(
      (resource) => period[resource] >= (quota[resource] ?? Number.POSITIVE_INFINITY),
    );
    if (full === undefined) return;
    throw usedUp(full, tenant, Math.ceil(period.startedAt + quota.per - this.#now()));
  }

  /** Counts a call that was accepted. */
  begin(tenant: string): void {
    const quota = this.#quotaOf(tenant);
    if (quota) this.#period(tenant, quota).calls++;
  }

  /** Counts what a call used, in the period in which it ended. */
  end(tenant: string, { cpu_ms, output_bytes }: Usage): void {
    const quota = this.#quotaOf(tenant);
    if (!quota) return;
    const period = this.#period(tenant, quota);
    period.cpu += cpu_ms;
    period.output += output_bytes;
  }

  get use(): QuotaUse[] {
    return [...this.#periods.keys()].flatMap((tenant) => {
      const quota = this.#quotaOf(tenant);
      if (!quota) return [];
      const period = this.#period(tenant, quota);
      return RESOURCES.flatMap((resource) => {
        const limit = quota[resource];
        return limit === undefined ? [] : [{ tenant, resource, used: period[resource], limit }];
      });
    });
  }

  #period(tenant: string, { per }: Quota): Period {
    const known = this.#periods.get(tenant);
    if (known && this.#now() - known.startedAt < per) return known;
    const period = { startedAt: this.#now(), calls: 0, cpu: 0, output: 0 };
    this.#periods.set(tenant, period);
    return period;
  }
}

const NAMES: Readonly<Record<Resource, string>> = { calls: 'calls', cpu: 'CPU time', output: 'output' };

function usedUp(resource: Resource, tenant: string, retryAfterMs: number): SkillError {
  return new SkillError('resource_exceeded', `The quota of "${tenant}" for ${NAMES[resource]} is used up`, {
    fix: `Try again after ${retryAfterMs} ms, or ask the operator to raise the quota.`,
    detail: { limit: 'busy', scope: 'tenant', quota: resource, retry_after_ms: retryAfterMs },
  });
}
