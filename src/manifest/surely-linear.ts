/**
 * Patterns and formats whose check surely takes no more steps than the text has characters. Whatever is not obviously so
 * is left to a worker thread: this decides where a check runs, never whether a pattern is good.
 *
 * @module
 */

/** One character, escape or class without anything that could match in two ways. */
const ATOM = String.raw`(?:[\w\- @:/,;=<>#%&'"!~]|\\[\\.dDwWsS/\-+*?^$()[\]{}|]|\[\^?(?:[^\\\[\]]|\\[\\.dDwWsS/\-\]\[^])+\])`;
const FIXED = String.raw`${ATOM}(?:\{\d{1,3}\})?`;
const VARIABLE = String.raw`${ATOM}(?:[*+?]|\{\d{1,3},\d{0,4}\})`;
/** Begins at one place and has one part of variable length at most: nothing to come back to. */
const PLAIN_PATTERN = new RegExp(`^\\^(?:${FIXED})*(?:${VARIABLE}(?:${FIXED})*)?\\$?$`);

/** By one regular expression that begins at one place, or by a comparison of numbers. */
const PLAIN_FORMATS: ReadonlySet<string> = new Set(
  'date time date-time uuid ipv4 int32 int64 float double password binary'.split(' '),
);

export function isPlainPattern(pattern: unknown): boolean {
  return typeof pattern === 'string' && pattern.length <= 100 && PLAIN_PATTERN.test(pattern);
}

export function isPlainFormat(format: unknown): boolean {
  return typeof format === 'string' && PLAIN_FORMATS.has(format);
}
