/**
 * Converts arguments to strings: callers can pass anything, as everywhere in JavaScript.
 *
 * @module
 */

/** Unpaired surrogates become U+FFFD. */
export function asText(value: unknown): string {
  return String(value).toWellFormed();
}
