/**
 * `skillcell lock`
 *
 * @module
 */
import { printableLine } from '../../index.ts';
import { openRuntime } from '../open-runtime.ts';
import { printLine } from '../output.ts';

export async function lock(ref: string): Promise<number> {
  await using runtime = openRuntime({ needsPolicy: false });
  printLine(`Wrote ${printableLine(await runtime.lock(ref))}`);
  return 0;
}
