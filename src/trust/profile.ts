/**
 * Tells whether a skill works without a network. Derived from its declarations, so that a skill cannot claim it.
 *
 * @module
 */
import type { Manifest } from '../manifest/manifest.ts';

/** `cloud_only`: needs an account at a service, because it requires a secret for one. */
export type Profile = 'local' | 'networked' | 'cloud_only';

export function profileOf({ capabilities, env }: Manifest): Profile {
  if (capabilities.network.length === 0) return 'local';
  const needsAccount = Object.values(env).some((rule) => rule.required && rule.secret);
  return needsAccount ? 'cloud_only' : 'networked';
}
