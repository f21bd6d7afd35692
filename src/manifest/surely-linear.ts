/**
 * Recognizes patterns and formats whose check is certainly linear in the length of the text. Everything else goes to a
 * worker thread: this decides where a check runs, never whether a pattern is acceptable.
 *
 * @module
 */

/** One character, escape or class that can match in only one way. */
const ATOM = String.raw`(?:[\w\- @:/,;=<>#%&'"!~]|\\[\\.dDwWsS/\-+*?^$()[\]{}|]|\[\^?(?:[^\\\[\]]|\\[\\.dDwWsS/\-\]\[^])+\])`;
const FIXED = String.raw`${ATOM}(?:\{\d{1,3}\})?`;
const VARIABLE = String.raw`${ATOM}(?:[*+?]|\{\d{1,3},\d{0,4}\})`;
/** Anchored, with at most one part of variable length, so that there is nothing to backtrack to. */
const PLAIN_PATTERN = new RegExp(`^\\^(?:${FIXED})*(?:${VARIABLE}(?:${FIXED})*)?\\$?$`);

/** Formats that are checked by one anchored regular expression or by comparing numbers. */
const PLAIN_FORMATS: ReadonlySet<string> = new Set(
  'date time date-time uuid ipv4 int32 int64 float double password binary'.split(' '),
);

export function isPlainPattern(pattern: unknown): boolean {
  return typeof pattern === 'string' && pattern.length <= 100 && PLAIN_PATTERN.test(pattern);
}

export function isPlainFormat(format: unknown): boolean {
  return typeof format === 'string' && PLAIN_FORMATS.has(format);
}
