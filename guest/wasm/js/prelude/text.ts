/**
 * What callers hand over where a text is wanted: anything, as everywhere in JavaScript.
 *
 * @module
 */

/** Halves of surrogate pairs become U+FFFD. */
export function asText(value: unknown): string {
  return String(value).toWellFormed();
}
