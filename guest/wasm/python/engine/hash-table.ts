/**
 * How the engine reaches the host's function for hashes: see `host-hash.ts`.
 *
 * @module
 */
import { MODULE_HEADER } from '../../binary/core-module.ts';

/** The name of a table of one function, which takes the algorithm, the data, its length, and where the digest goes.
 * Its result is 0 if it declines. */
export const HASH_TABLE = 'host_hash';
/** After those of Pyodide. */
export const HASH_TABLE_INDEX = 3;

/** For less, asking the host costs more than it saves. */
export const MIN_BYTES: number = 192;
/** Data is kept as long as its hash object, so it must be small. */
export const MAX_BYTES: number = 65_536;
/** `(algorithm, data, length, digest)`; the result is 0 if the host declines. */
export const HASH_TYPE: readonly number[] = [0x60, 4, 0x7f, 0x7f, 0x7f, 0x7f, 1, 0x7f];

/** What the host computes. The engine names them by number. */
export const HOST_HASHES = ['sha256', 'sha224', 'sha1'] as const;
export type HostHash = (typeof HOST_HASHES)[number];

const SECTION = { types: 1, imports: 2, exports: 7 } as const;

/** A module that gives the host's function to the table: only functions of WebAssembly can be in one. */
export function hashRelayModule(): Uint8Array {
  const name = [...new TextEncoder().encode('hash')];
  return new Uint8Array([
    ...MODULE_HEADER,
    ...[SECTION.types, 1 + HASH_TYPE.length, 1, ...HASH_TYPE],
    ...[SECTION.imports, 4 + 3 + 1 + name.length, 1, 3, ...new TextEncoder().encode('env')],
    ...[name.length, ...name, 0, 0],
    ...[SECTION.exports, 4 + name.length, 1, name.length, ...name, 0, 0],
  ]);
}
