/**
 * Every core module of the corpus in the text format. `scripts/build-attacks.ts` builds `built/<name>.wasm` from them.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ATTACKS_DIR } from '../runner/places.ts';
import { ABI_PROGRAMS, ALLOCATORS } from './sources/abi.ts';
import { BETWEEN_CALLS_PROGRAMS } from './sources/between-calls.ts';
import { FILE_PROGRAMS } from './sources/files.ts';
import { HTTP_PROGRAMS } from './sources/http.ts';
import { LIMIT_PROGRAMS } from './sources/limits.ts';

export const PROGRAMS: Readonly<Record<string, string>> = {
  ...FILE_PROGRAMS,
  ...LIMIT_PROGRAMS,
  ...ALLOCATORS,
  ...ABI_PROGRAMS,
  ...HTTP_PROGRAMS,
  ...BETWEEN_CALLS_PROGRAMS,
};

export const BUILT_DIR: string = join(ATTACKS_DIR, 'wasm', 'built');

export function builtProgram(name: string): Uint8Array {
  return readFileSync(join(BUILT_DIR, `${name}.wasm`));
}
