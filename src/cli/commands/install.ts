/**
 * `skillcell install`
 *
 * @module
 */
import { openRuntime } from '../open-runtime.ts';
import { printLine, printNote, printWarning } from '../output.ts';

export async function install(ref: string, flags: { replace?: boolean } = {}): Promise<number> {
  await using runtime = openRuntime({ needsPolicy: false });
  if (process.stderr.isTTY) printNote('Installing; requirements can take a while …');
  const { bundle } = await runtime.install(ref, { replace: flags.replace ?? false });
  for (const warning of bundle.warnings) printWarning(warning);
  printLine(`Installed ${bundle.manifest.name} ${bundle.manifest.version} (${bundle.digest})`);
  return 0;
}
