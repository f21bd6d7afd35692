/**
 * How hard a value is to guess, as far as its form tells.
 *
 * @module
 */
import { shapeOf } from '../../cell/placeholders.ts';

const BITS_NEEDED = 64;
const BITS_PER_CHARACTER: readonly [form: RegExp, bits: number][] = [
  [/^\d*$/, Math.log2(10)],
  [/^[\da-f-]*$/i, 4],
  [/^(?:[\da-z]*|[\dA-Z]*)$/, Math.log2(36)],
];
const BITS_OTHERWISE = Math.log2(62);

/**
 * True when so many values of this form exist that nobody finds it by trying. Whether it is, the placeholder tells
 * anyway: it has the same form.
 */
export function isHardToGuess(value: string): boolean {
  const rest = value.slice(shapeOf(value).prefix.length);
  const [, bits] = BITS_PER_CHARACTER.find(([form]) => form.test(rest)) ?? [rest, BITS_OTHERWISE];
  return rest.length * bits >= BITS_NEEDED;
}
