/**
 * Every attack on Wasm cells.
 *
 * @module
 */
import type { WasmAttack } from './attack.ts';
import { ABI_ATTACKS } from './corpus/abi.ts';
import { BETWEEN_CALLS_ATTACKS } from './corpus/between-calls.ts';
import { BINARY_ATTACKS } from './corpus/binaries.ts';
import { FILE_ATTACKS } from './corpus/files.ts';
import { HTTP_ATTACKS } from './corpus/http.ts';
import { LIMIT_ATTACKS } from './corpus/limits.ts';

export const WASM_ATTACKS: readonly WasmAttack[] = [
  ...FILE_ATTACKS,
  ...LIMIT_ATTACKS,
  ...ABI_ATTACKS,
  ...HTTP_ATTACKS,
  ...BINARY_ATTACKS,
  ...BETWEEN_CALLS_ATTACKS,
];
