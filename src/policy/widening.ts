/**
 * What a policy gives beyond what is in force without it. A file that lies in the working directory may have come with it,
 * as a project that somebody cloned: it can always take away, but for more a person has to have named or trusted it.
 *
 * @module
 */
import { isDeepStrictEqual } from 'node:util';
import { STRENGTH } from './choose-mode.ts';
import { isSet, rulesOf } from './combine.ts';
import { DEFAULT_POLICY, type OperatorPolicy } from './operator.ts';
import { hostCovers, pathCoversPattern } from './patterns.ts';

/** The keys of the policy by which skills, or the file itself, get more than without it. */
export function wideningKeys(policy: OperatorPolicy, inForce: OperatorPolicy = DEFAULT_POLICY): string[] {
  const { minimum, ceilings } = inForce;
  const weaker = (policy.minimumSet ?? []).filter(
    (origin) => STRENGTH[policy.minimum[origin]] < STRENGTH[minimum[origin]],
  );
  const higher = policy.ceilingsSet.filter((limit) => policy.ceilings[limit] > ceilings[limit]);
  return [
    ...weaker.map((origin) => `minimum.${origin}`),
    ...higher.map((limit) => `ceilings.${limit}`),
    ...(opensPaths(policy, inForce) ? ['filesystem.allow'] : []),
    // Who names a variable has it passed to skills that nobody approved.
    ...(isWithin(policy.env.vouched, inForce.env.vouched) ? [] : ['env.allow']),
    ...widerNetwork(policy.network, inForce.network),
    // It names files to read and commands to run.
    ...(isWithin(policy.secrets, inForce.secrets ?? ['environment']) ? [] : ['secrets']),
    // It says whose signatures count.
    ...(isWithin(publishersOf(policy), publishersOf(inForce)) ? [] : ['publishers']),
  ];
}

function publishersOf(policy: OperatorPolicy): unknown[] {
  return rulesOf(policy).flatMap(({ publishers }) => publishers);
}

function opensPaths({ filesystem: own }: OperatorPolicy, { filesystem: before }: OperatorPolicy): boolean {
  if (!isSet(own)) return false;
  const lists = [before.allow, ...(before.within ?? [])];
  return !own.allow.every((pattern) =>
    lists.every((list) => list.some((known) => pathCoversPattern(known, pattern))),
  );
}

function widerNetwork(own: OperatorPolicy['network'], before: OperatorPolicy['network']): string[] {
  const { allow: known } = before;
  const isNew = (host: string): boolean => !known?.some((pattern) => hostCovers(pattern, host));
  return [
    ...(known && own.allow?.some(isNew) ? ['network.allow'] : []),
    ...(isWithin(own.allowPrivate, before.allowPrivate) ? [] : ['network.allow_private']),
    // It opens what was closed to us, and lets skills load whose secrets go out through it.
    ...(own.inspectTls && !before.inspectTls ? ['network.inspect_tls'] : []),
    // Strangers would learn which of their requests belong together.
    ...(own.traceContext && !before.traceContext ? ['network.trace_context'] : []),
  ];
}

function isWithin(own: readonly unknown[] = [], before: readonly unknown[] = []): boolean {
  return own.every((value) => before.some((known) => isDeepStrictEqual(known, value)));
}
