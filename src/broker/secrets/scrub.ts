/**
 * Removes secret values from everything that leaves the runtime: results, logs, errors, receipts. A cell never holds a value,
 * but a server can return one in an unexpected form.
 *
 * @module
 */
import type { Outcome } from '../../outcome.ts';
import { Finder } from './finder.ts';
import { everySpelling } from './patterns.ts';

/** Removes secrets from strings, keys and numbers of a value. */
export type Scrub = <T>(value: T) => T;

/** Scrubs the parts of an outcome that a skill or a server can influence. */
export function scrubOutcome<T extends Outcome>(outcome: T, scrub: Scrub): T {
  const { capabilities, logs, warnings } = outcome;
  const base = { capabilities: scrub(capabilities), logs: scrub(logs), warnings: scrub(warnings) };
  return outcome.ok
    ? { ...outcome, ...base, result: scrub(outcome.result) }
    : { ...outcome, ...base, error: scrub(outcome.error) };
}

export function scrubberFor(values: ReadonlyMap<string, string>): Scrub {
  if (values.size === 0) return (value) => value;
  const finder = new Finder(
    [...values].flatMap(([name, value]) =>
      everySpelling(value).map((pattern) => ({ pattern, replace: () => `[secret ${name}]` })),
    ),
  );
  return <T>(value: T): T => scrubbed(value, finder) as T;
}

function scrubbed(value: unknown, finder: Finder): unknown {
  if (typeof value === 'string') return finder.replaceInText(value);
  if (typeof value === 'number') return scrubbedNumber(value, finder);
  if (Array.isArray(value)) return value.map((item) => scrubbed(item, finder));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, item]) => [
    finder.replaceInText(key),
    scrubbed(item, finder),
  ]);
  // fromEntries defines own properties, so that a key such as `__proto__` has no effect.
  return Object.fromEntries(entries);
}

function scrubbedNumber(value: number, finder: Finder): unknown {
  const text = finder.replaceInText(String(value));
  return text === String(value) ? value : text;
}
