/**
 * Long lists of words in tables and generators, without a line and quotes for each.
 *
 * @module
 */

/** The words of the lines, which are separated by spaces. */
export function words(...lines: readonly string[]): string[] {
  return lines.flatMap((line) => line.split(' '));
}
