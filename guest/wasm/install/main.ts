/**
 * Entry of the install process: `main.ts <binary> <output directory> <max pages>`. Writes `plan.json` and the modules
 * as `<index>.wasm`; for a refused binary, `refusal.json` and exit code 3. Prints nothing.
 *
 * @module
 */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BinaryError } from '../binary/reader.ts';
import { CAPS } from './caps.ts';
import { install } from './plan.ts';

const REFUSED = 3;

function main([input = '', output = '', pages = '']: readonly string[]): number {
  const maxPages = Number(pages);
  if (!Number.isSafeInteger(maxPages) || maxPages < 1 || maxPages > 65_536) {
    throw new Error(`"${pages}" is not a valid number of memory pages`);
  }
  try {
    if (statSync(input).size > CAPS.fileBytes) {
      throw new BinaryError(`The file is larger than ${CAPS.fileBytes} bytes`, CAPS.fileBytes);
    }
    const { plan, modules } = install(readFileSync(input), { maxPages });
    for (const [index, module] of modules.entries()) writeFileSync(join(output, `${index}.wasm`), module);
    writeFileSync(join(output, 'plan.json'), JSON.stringify(plan));
    return 0;
  } catch (error) {
    if (!(error instanceof BinaryError)) throw error;
    const refusal = { message: error.message, offset: error.offset };
    writeFileSync(join(output, 'refusal.json'), JSON.stringify(refusal));
    return REFUSED;
  }
}

process.exitCode = main(process.argv.slice(2));
