/**
 * The providers of a runtime: those of the embedding program, otherwise those of the policy, otherwise the environment.
 *
 * @module
 */
import type { SecretSource } from '../../policy/secret-sources.ts';
import {
  callbackSecrets,
  commandSecrets,
  environmentSecrets,
  fileSecrets,
  type SecretCallback,
  type SecretProvider,
} from './providers.ts';

export interface SecretPlaces {
  own?: SecretProvider | SecretCallback | (SecretProvider | SecretCallback)[] | undefined;
  sources?: SecretSource[] | undefined;
  env: Record<string, string | undefined>;
}

export function secretProviders({ own, sources = ['environment'], env }: SecretPlaces): SecretProvider[] {
  if (own !== undefined)
    return [own].flat().map((one) => (typeof one === 'function' ? callbackSecrets(one) : one));
  return sources.map((source) => {
    if (source === 'environment') return environmentSecrets(env);
    return 'file' in source ? fileSecrets(source.file) : commandSecrets(source.command);
  });
}
