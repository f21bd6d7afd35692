/**
 * Builds the core modules of the Wasm attacks from their text: `npm run build:attacks`. The output is committed,
 * because `skillcell attack` has no compiler; a test compares it with the text.
 *
 * @module
 */
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BUILT_DIR, PROGRAMS } from '../attacks/wasm/programs.ts';
import { wat } from '../test/wasm/binary/support.ts';

for (const file of readdirSync(BUILT_DIR)) rmSync(join(BUILT_DIR, file));
for (const [name, text] of Object.entries(PROGRAMS))
  writeFileSync(join(BUILT_DIR, `${name}.wasm`), wat(text));
