/**
 * What a policy gives beyond the built-in one. A file that lies in the working directory may have come with it, as a
 * project that somebody cloned: it can always take away, but for more a person has to have named or trusted it.
 *
 * @module
 */
import type { Origin } from '../load/bundle.ts';
import { STRENGTH } from './choose-mode.ts';
import type { GrantedLimits } from './grant.ts';
import { DEFAULT_POLICY, type OperatorPolicy } from './operator.ts';

/** The keys of the policy by which skills, or the file itself, get more than without it. */
export function wideningKeys(policy: OperatorPolicy): string[] {
  const { minimum, ceilings } = DEFAULT_POLICY;
  const weaker = (Object.keys(minimum) as Origin[]).filter(
    (origin) => STRENGTH[policy.minimum[origin]] < STRENGTH[minimum[origin]],
  );
  const higher = (Object.keys(ceilings) as (keyof GrantedLimits)[]).filter(
    (limit) => policy.ceilings[limit] > ceilings[limit],
  );
  return [
    ...weaker.map((origin) => `minimum.${origin}`),
    ...higher.map((limit) => `ceilings.${limit}`),
    ...(policy.filesystem.allow.every(isInWorkspace) ? [] : ['filesystem.allow']),
    ...(policy.network.allowPrivate?.length ? ['network.allow_private'] : []),
    // Strangers would learn which of their requests belong together.
    ...(policy.network.traceContext ? ['network.trace_context'] : []),
    // It names files to read and commands to run.
    ...(policy.secrets?.some((source) => source !== 'environment') ? ['secrets'] : []),
  ];
}

function isInWorkspace(pattern: string): boolean {
  return /^\$\{workspace\}(?:\/|$)/.test(pattern);
}
