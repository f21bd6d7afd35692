/**
 * The options that select receipts: --since, --until, --caller, --tenant, --skill, --outcome.
 *
 * @module
 */
import { type ListOptions, SkillError, parseDuration } from '../inside.ts';
import { ERRORS } from '../vocabulary/error-codes.ts';

export interface FilterFlags {
  since?: string;
  until?: string;
  caller?: string;
  tenant?: string;
  skill?: string;
  outcome?: string;
}

const DAY_MS = 86_400_000;
const DATE = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})?)?$/;

export function filterOf(flags: FilterFlags): ListOptions {
  const { since, until, caller, tenant, skill, outcome } = flags;
  return {
    ...(since === undefined ? {} : { since: pastTime('--since', since) }),
    ...(until === undefined ? {} : { until: pastTime('--until', until) }),
    ...(caller === undefined ? {} : { caller }),
    ...(tenant === undefined ? {} : { callerPrefix: `http:${tenant}:` }),
    ...(skill === undefined ? {} : { skill }),
    ...(outcome === undefined ? {} : outcomeFilter(outcome)),
  };
}

/** A date, a date with a time, or how long ago: 90d, 12h, 30m. Without a zone, a date means UTC. */
export function pastTime(option: string, text: string, now: number = Date.now()): Date {
  const days = /^(\d{1,6})d$/.exec(text)?.[1];
  if (days !== undefined) return new Date(now - Number(days) * DAY_MS);
  if (DATE.test(text)) {
    const time = text.replace(' ', 'T');
    const date = new Date(/T/.test(time) && !/(?:Z|[+-]\d{2}:\d{2})$/.test(time) ? `${time}Z` : time);
    if (!Number.isNaN(date.getTime())) return date;
  } else if (/^\d+(?:ms|s|m|h)$/.test(text)) return new Date(now - parseDuration(text));
  throw new SkillError('usage', `${option} "${text}" is not a time`, {
    fix: `Pass a date, such as ${option} 2026-01-31 or ${option} 2026-01-31T08:00:00Z, or how long ago, such as ${option} 90d or ${option} 12h.`,
  });
}

function outcomeFilter(outcome: string): ListOptions {
  if (outcome === 'failed') return { failedOnly: true };
  const codes = ['ok', ...Object.keys(ERRORS)] as NonNullable<ListOptions['code']>[];
  const code = codes.find((one) => one === outcome);
  if (code) return { code };
  throw new SkillError('usage', `--outcome "${outcome}" is not an outcome`, {
    fix: `Pass one of: failed, ${codes.join(', ')}.`,
  });
}
