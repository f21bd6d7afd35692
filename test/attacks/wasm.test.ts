/**
 * Every attack on Wasm cells is stopped and gets the answer it must get, inside the jail and without one.
 *
 * @module
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { WASM_ATTACKS } from '../../attacks/wasm/corpus.ts';
import { FILE_ATTACKS } from '../../attacks/wasm/corpus/files.ts';
import { HTTP_ATTACKS } from '../../attacks/wasm/corpus/http.ts';
import { LIMIT_ATTACKS } from '../../attacks/wasm/corpus/limits.ts';
import { BUILT_DIR, PROGRAMS } from '../../attacks/wasm/programs.ts';
import { itStopsInWasm } from './suite.ts';
import { wat } from '../wasm/binary/support.ts';

const NAMES = WASM_ATTACKS.map(({ name }) => name);
/** Attacks that call the host or exceed a limit; linker and installer judge the others, whatever the wall is. */
const AT_THE_WALL = [...FILE_ATTACKS, ...LIMIT_ATTACKS, ...HTTP_ATTACKS];
describe('the programs of the attacks', () => {
  it('match their source text', async () => {
    const built = await readdir(BUILT_DIR);
    expect(built.sort()).toEqual(
      Object.keys(PROGRAMS)
        .map((name) => `${name}.wasm`)
        .sort(),
    );
    for (const [name, text] of Object.entries(PROGRAMS)) {
      const bytes = await readFile(join(BUILT_DIR, `${name}.wasm`));
      expect(bytes.equals(wat(text)), `${name}: run npm run build:attacks`).toBe(true);
    }
  });

  it('have unique names', () => {
    expect(new Set(NAMES).size).toBe(NAMES.length);
  });
});

describe('the attacks on Wasm cells', () => {
  itStopsInWasm(WASM_ATTACKS, AT_THE_WALL);
});
