/**
 * The fix for code that its manifest does not cover: what to declare, or which line to correct.
 *
 * @module
 */
import { recordSentence, setIn } from '../manifest/edit-sentences.ts';
import { namesSecret } from '../manifest/names.ts';
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
  const usesNetwork =
    inspection.modules.some(({ value }) => isNetworkModule(value) && !isOwnModule(value, paths)) ||
    inspection.interfaces.some(({ value }) => !value.startsWith('wasi:filesystem/'));
  const needsRecord = manifest.capabilities.network.length === 0 && (usesNetwork || names.length === 0);
  // A recorded call finds the hosts that a secret is for, and adds both.
  const secrets = needsRecord && usesNetwork ? [...new Set(names)].filter(namesSecret) : [];
  const variables = [...new Set(names)]
    .filter((name) => !secrets.includes(name))
    .map((name) => setIn(`env_vars.${name}`, file, '{ required: false }'));
  const options = [
    ...(usesNetwork ? ['--allow-network'] : []),
    ...secrets.map((name) => `--allow-secret ${name}`),
  ];
  const steps = [
    ...variables,
    ...(needsRecord ? [recordSentence(dir, { options: options.join(' '), environment: secrets })] : []),
  ];
  return `Remove it from the code, or do this if the skill needs it: ${steps.join(' ')}`;
}
