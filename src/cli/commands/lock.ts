/**
 * `skillcell lock`
 *
 * @module
 */
import { openRuntime } from '../open-runtime.ts';
import { printLine } from '../output.ts';

export async function lock(ref: string): Promise<number> {
  await using runtime = openRuntime({ needsPolicy: false });
  printLine(`Wrote ${await runtime.lock(ref)}`);
  return 0;
}
