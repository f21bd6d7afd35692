/**
 * Finds what a policy file allows beyond the policy in force without it. A file in the working directory may have come
 * with a cloned project: it can always restrict, but to widen it must be named or trusted by a person.
 *
 * @module
 */
import { isDeepStrictEqual } from 'node:util';
import { MODES } from '../vocabulary/modes.ts';
import { isSet, rulesOf } from './combine.ts';
import { DEFAULT_POLICY, type OperatorPolicy } from './operator.ts';
import { hostCovers, pathCoversPattern } from './patterns.ts';

/** The keys of the policy that give skills, or the file itself, more than without it. */
export function wideningKeys(policy: OperatorPolicy, inForce: OperatorPolicy = DEFAULT_POLICY): string[] {
  const { minimum, ceilings } = inForce;
  const weaker = (policy.minimumSet ?? []).filter(
    (origin) => MODES[policy.minimum[origin]].strength < MODES[minimum[origin]].strength,
  );
  const higher = policy.ceilingsSet.filter((limit) => policy.ceilings[limit] > ceilings[limit]);
  return [
    ...weaker.map((origin) => `minimum.${origin}`),
    ...higher.map((limit) => `ceilings.${limit}`),
    ...(opensPaths(policy, inForce) ? ['filesystem.allow'] : []),
    // A named variable is passed to skills that are not approved.
    ...(isWithin(policy.env.vouched, inForce.env.vouched) ? [] : ['env.allow']),
    ...widerNetwork(policy.network, inForce.network),
    ...(inForce.programs && !isWithin(policy.programs?.allow, inForce.programs.allow)
      ? ['programs.allow']
      : []),
    ...(policy.generatedCode === true && inForce.generatedCode === false ? ['generated_code'] : []),
    // Code of a call then runs behind one wall instead of two.
    ...(policy.nativePrograms === true && inForce.nativePrograms !== true ? ['native_programs'] : []),
    // It names files to read and commands to run.
    ...(isWithin(policy.secrets, inForce.secrets ?? ['environment']) ? [] : ['secrets']),
    // It decides whose signatures are accepted.
    ...(isWithin(publishersOf(policy), publishersOf(inForce)) ? [] : ['publishers']),
    // Where a rule allows a source, `skillcell add --yes` asks nobody.
    ...(policy.sources && !inForce.sources ? ['sources'] : []),
  ];
}

function publishersOf(policy: OperatorPolicy): unknown[] {
  const sets = [...rulesOf(policy), ...(policy.sources ?? [])];
  return sets.flatMap(({ publishers }) => publishers);
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
    // It opens encrypted traffic, and lets skills load that send secrets through it.
    ...(own.inspectTls && !before.inspectTls ? ['network.inspect_tls'] : []),
    // Remote hosts would learn which requests belong together.
    ...(own.traceContext && !before.traceContext ? ['network.trace_context'] : []),
  ];
}

function isWithin(own: readonly unknown[] = [], before: readonly unknown[] = []): boolean {
  return own.every((value) => before.some((known) => isDeepStrictEqual(known, value)));
}
