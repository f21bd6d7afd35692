/**
 * What a tenant may use: concurrency, queue, rate, event streams, and amounts per period.
 *
 * @module
 */
import { z } from 'zod';
import { parseDuration, parseSize } from '../manifest/units.ts';

/** Limits on concurrency, queue length and rate. */
export interface Limits {
  /** Calls that run at the same time; each has one cell. */
  concurrent?: number | undefined;
  queue?: number | undefined;
  rate?: { calls: number; per: number } | undefined;
}

/** Amounts per period; a resource without an amount is not limited. */
export interface Quota {
  /** The period in milliseconds. */
  per: number;
  calls?: number | undefined;
  /** CPU time in milliseconds. */
  cpu?: number | undefined;
  /** Bytes of results and logs. */
  output?: number | undefined;
}

/** Limits of a tenant: concurrency, queue, rate, event streams and amounts per period. */
export interface TenantLimits extends Limits {
  quota?: Quota | undefined;
  /** Event streams at the same time. */
  streams?: number | undefined;
}

const duration: z.ZodType<number> = z.string().transform((text, context) => {
  try {
    return parseDuration(text);
  } catch {
    context.addIssue({ code: 'custom', message: 'expected a duration such as "10s"' });
    return z.NEVER;
  }
});

export const size: z.ZodType<number> = z.string().transform((text, context) => {
  try {
    return parseSize(text);
  } catch {
    context.addIssue({ code: 'custom', message: 'expected a size such as "1GiB"' });
    return z.NEVER;
  }
});

const laneKeys = {
  concurrent: z.int().min(1).max(10_000).optional(),
  /** Calls that may wait. */
  queue: z.int().min(0).max(100_000).optional(),
  /** Such as `{ calls: 100, per: 10s }`. */
  rate: z.strictObject({ calls: z.int().min(1).max(1_000_000), per: duration }).optional(),
};

export const limitSchema: z.ZodType<Limits> = z.strictObject(laneKeys);

export const tenantLimitSchema: z.ZodType<TenantLimits> = z.strictObject({
  ...laneKeys,
  quota: z
    .strictObject({
      per: duration,
      calls: z.int().min(1).optional(),
      cpu: duration.optional(),
      output: size.optional(),
    })
    .optional(),
  streams: z.int().min(1).max(1000).optional(),
});

/** The lower limit of each; of two rates or two quotas with other periods, both cannot be kept by one counter, so the slower. */
export function lowerLimits(one: TenantLimits, other: TenantLimits): TenantLimits {
  const quota = lowerQuota(one.quota, other.quota);
  const rate = slower(one.rate, other.rate);
  return {
    ...least('concurrent', one, other),
    ...least('queue', one, other),
    ...least('streams', one, other),
    ...(rate ? { rate } : {}),
    ...(quota ? { quota } : {}),
  };
}

function slower(one: Limits['rate'], other: Limits['rate']): Limits['rate'] {
  if (!one || !other) return one ?? other;
  // The one with fewer calls per time, in the burst of the smaller.
  const calls = Math.min(one.calls, other.calls);
  return { calls, per: calls / Math.min(one.calls / one.per, other.calls / other.per) };
}

function lowerQuota(one: Quota | undefined, other: Quota | undefined): Quota | undefined {
  if (!one || !other) return one ?? other;
  return {
    // A longer period with the smaller amounts allows less than either.
    per: Math.max(one.per, other.per),
    ...least('calls', one, other),
    ...least('cpu', one, other),
    ...least('output', one, other),
  };
}

function least<Key extends string>(
  key: Key,
  one: { readonly [K in Key]?: number | undefined },
  other: { readonly [K in Key]?: number | undefined },
): { [K in Key]?: number } {
  const values = [one[key], other[key]].filter((value) => value !== undefined);
  return (values.length === 0 ? {} : { [key]: Math.min(...values) }) as { [K in Key]?: number };
}
