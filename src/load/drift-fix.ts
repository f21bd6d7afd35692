/**
 * The fix for code that its manifest does not cover: what to declare, or which line to correct.
 *
 * @module
 */
import { recordSentence, setIn } from '../manifest/edit-sentences.ts';
import { isHarmlessEnv, type DriftSource } from './drift.ts';
import { isNetworkModule, isOwnModule } from './modules.ts';

export function fixForDrift({ manifest, inspection, paths }: DriftSource, dir: string): string {
  const [unparsed] = inspection.unparsed;
  // Nothing else is known about a file that cannot be parsed.
  if (unparsed) return `Correct the syntax of the source at ${unparsed.at}, in ${JSON.stringify(dir)}.`;
  const names = inspection.env
    .map(({ value }) => value)
    .filter((name) => !isHarmlessEnv(name) && !Object.hasOwn(manifest.env, name));
  const file = `${dir}/manifest.yaml`;
  const variables = [...new Set(names)].map((name) => setIn(`env_vars.${name}`, file, '{ required: false }'));
  const usesNetwork =
    inspection.modules.some(({ value }) => isNetworkModule(value) && !isOwnModule(value, paths)) ||
    inspection.interfaces.some(({ value }) => !value.startsWith('wasi:filesystem/'));
  const record = usesNetwork ? '--allow-network' : '';
  const needsRecord = manifest.capabilities.network.length === 0 && (usesNetwork || variables.length === 0);
  const steps = [...variables, ...(needsRecord ? [recordSentence(dir, record)] : [])];
  return `Remove it from the code, or do this if the skill needs it: ${steps.join(' ')}`;
}
