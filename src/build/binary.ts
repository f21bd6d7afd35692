/**
 * Words of the WebAssembly binary format, for what we write ourselves: numbers, names, lists, sections.
 *
 * @module
 */

/** Pieces of a binary, flattened when it is done. */
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

/** A number from zero up where a negative one could stand as well, such as an index of a type for a primitive type. */
export function signed(value: number): Bytes {
  const bytes = u32(value);
  const last = bytes.at(-1) ?? 0;
  // The highest bit of the last byte is the sign.
  return last < SIGN ? bytes : [...bytes.slice(0, -1), last | MORE, 0x00];
}

/** A name, or any other text, with its length in front. */
export function name(text: string): Bytes {
  const bytes = [...Buffer.from(text)];
  return [...u32(bytes.length), ...bytes];
}

/** A list with its count in front. */
export function list(items: readonly Bytes[]): Bytes {
  return [...u32(items.length), ...items.flat()];
}

/** A section whose content is a list. */
export function section(id: number, items: readonly Bytes[]): Bytes {
  return sized(id, list(items));
}

/** A section of any content. */
export function sized(id: number, content: Bytes): Bytes {
  return [id, ...u32(content.length), ...content];
}
