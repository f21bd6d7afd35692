/**
 * Bytes of WebAssembly binaries, for what the text format cannot express: false sizes, and components around modules.
 *
 * @module
 */
import { u32 } from '../../src/for-attacks.ts';

/** Unlike the output of `src/build`, some of it is megabytes long. */
export type Bytes = Uint8Array | readonly number[];

export function join(...parts: readonly Bytes[]): Uint8Array {
  return Buffer.concat(parts.map((part) => (part instanceof Uint8Array ? part : Uint8Array.from(part))));
}

export function section(id: number, content: Bytes): Uint8Array {
  return join([id], u32(content.length), content);
}

/** A list with its length prefix. */
export function vec(...items: readonly Bytes[]): Uint8Array {
  return join(u32(items.length), ...items);
}

/** A section that is a list. */
export function listed(id: number, ...items: readonly Bytes[]): Uint8Array {
  return section(id, vec(...items));
}

export function component(...sections: readonly Bytes[]): Uint8Array {
  return join([0, 0x61, 0x73, 0x6d, 0x0d, 0, 1, 0], ...sections);
}

export function coreModule(...sections: readonly Bytes[]): Uint8Array {
  return join([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0], ...sections);
}
