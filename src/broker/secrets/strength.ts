/**
 * Estimates from its form how hard a value is to guess.
 *
 * @module
 */
import { shapeOf } from '../../cell/protocol/placeholders.ts';

const BITS_NEEDED = 64;
const BITS_PER_CHARACTER: readonly [form: RegExp, bits: number][] = [
  [/^\d*$/, Math.log2(10)],
  [/^[\da-f-]*$/i, 4],
  [/^(?:[\da-z]*|[\dA-Z]*)$/, Math.log2(36)],
];
const BITS_OTHERWISE = Math.log2(62);

/**
 * True if there are too many values of this form to find it by trying. This reveals nothing new, because the placeholder has
 * the same form.
 */
export function isHardToGuess(value: string): boolean {
  const rest = value.slice(shapeOf(value).prefix.length);
  const [, bits] = BITS_PER_CHARACTER.find(([form]) => form.test(rest)) ?? [rest, BITS_OTHERWISE];
  return rest.length * bits >= BITS_NEEDED;
}
