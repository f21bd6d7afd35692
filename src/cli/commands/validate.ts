/**
 * `skillcell validate`
 *
 * @module
 */
import { printableLine } from '../../index.ts';
import { openRuntime } from '../open-runtime.ts';
import { printLine, printWarning } from '../output.ts';

export async function validate(ref: string): Promise<number> {
  await using runtime = openRuntime({ needsPolicy: false });
  const { bundle } = await runtime.load(ref);
  for (const warning of bundle.warnings) printWarning(warning);
  const { name, version } = bundle.manifest;
  printLine(printableLine(`${name} ${version} is valid (${bundle.lock}, ${bundle.digest})`));
  return 0;
}
