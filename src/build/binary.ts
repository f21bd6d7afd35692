/**
 * Encodes parts of the WebAssembly binary format: numbers, names, lists, sections.
 *
 * @module
 */

/** A piece of a binary. */
export type Bytes = readonly number[];

const LOW_BITS = 0x7f;
const MORE = 0x80;
const SIGN = 0x40;

/** An unsigned number in LEB128. */
export function u32(value: number): Bytes {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > LOW_BITS; rest >>>= 7) bytes.push((rest & LOW_BITS) | MORE);
  return [...bytes, rest];
}

/** A non-negative number in signed LEB128, where the format also allows negative ones, such as for primitive types. */
export function signed(value: number): Bytes {
  const bytes = u32(value);
  const last = bytes.at(-1) ?? 0;
  // The sign is bit 6 of the last byte.
  return last < SIGN ? bytes : [...bytes.slice(0, -1), last | MORE, 0x00];
}

/** A name or other text, prefixed with its length. */
export function name(text: string): Bytes {
  const bytes = [...Buffer.from(text)];
  return [...u32(bytes.length), ...bytes];
}

/** A list, prefixed with its count. */
export function list(items: readonly Bytes[]): Bytes {
  return [...u32(items.length), ...items.flat()];
}

/** A section whose content is a list. */
export function section(id: number, items: readonly Bytes[]): Bytes {
  return sized(id, list(items));
}

/** A section with arbitrary content. */
export function sized(id: number, content: Bytes): Bytes {
  return [id, ...u32(content.length), ...content];
}
