/**
 * The policy of a running service whose policy file was edited: the stricter of the policy that the operator put in force
 * and the one that the file now describes, key by key.
 *
 * @module
 */
import { isDeepStrictEqual } from 'node:util';
import type { TrustRules } from '../trust/admission.ts';
import type { SkillRule } from '../trust/skill-rules.ts';
import { MODES, type Mode } from '../vocabulary/modes.ts';
import { allFlows, allSources, commonHosts, restrictCode, rulesOf } from './combine.ts';
import { allMinimumRules } from './minimum.ts';
import type { OperatorPolicy } from './operator.ts';
import { hostCovers, pathCoversPattern } from './patterns.ts';
import type { SecretSource } from './secret-sources.ts';

/** Never allows what one of them forbids. Unlike `restrict`, a key that the file does not set counts with its default. */
export function strictest(inForce: OperatorPolicy, file: OperatorPolicy): OperatorPolicy {
  if (isDeepStrictEqual(inForce, file)) return inForce;
  const guard = stricterGuard(inForce.guard ?? [], file.guard ?? []);
  const secrets = stricterList<SecretSource>(
    inForce.secrets ?? ['environment'],
    file.secrets ?? ['environment'],
  );
  return {
    ...(file.file === undefined ? {} : { file: file.file }),
    ...(file.files === undefined ? {} : { files: file.files }),
    minimum: stricterMinimum(inForce.minimum, file.minimum),
    ...optional('minimumSet', union(inForce.minimumSet ?? [], file.minimumSet ?? [])),
    ...optional('minimumRules', allMinimumRules(inForce.minimumRules, file.minimumRules)),
    ceilings: lowest(inForce.ceilings, file.ceilings),
    ceilingsSet: union(inForce.ceilingsSet, file.ceilingsSet),
    filesystem: stricterPaths(inForce.filesystem, file.filesystem),
    env: stricterEnv(inForce.env, file.env),
    network: stricterNetwork(inForce.network, file.network),
    ...restrictCode(inForce, file),
    ...stricterFreshness(inForce, file),
    ...(inForce.nativePrograms && file.nativePrograms ? { nativePrograms: true } : {}),
    ...allFlows(inForce, file),
    ...(inForce.secrets || file.secrets ? { secrets } : {}),
    ...allSources(inForce, file),
    ...stricterRules(inForce, file),
    ...optional('guard', guard),
  };
}

/** The keys in which the policy in force is stricter than the file. */
export function heldBack(inForce: OperatorPolicy, file: OperatorPolicy): string[] {
  const [now, wanted] = [comparable(inForce), comparable(file)];
  return Object.keys(now).filter((key) => !isDeepStrictEqual(now[key], wanted[key]));
}

function comparable(policy: OperatorPolicy): Record<string, unknown> {
  const { minimum, minimumSet = [], minimumRules = [], ceilings, ceilingsSet, network, env } = policy;
  const { pythonWasm = { newInstance: false, strict: false } } = policy;
  return {
    minimum: [minimum, minimumSet.toSorted(), minimumRules.map((rule) => JSON.stringify(rule)).sort()],
    ceilings: [ceilings, ceilingsSet.toSorted()],
    filesystem: [policy.filesystem.allow, policy.filesystem.within ?? []],
    env: [env.allow?.toSorted(), (env.vouched ?? []).toSorted()],
    'network.allow': network.allow?.toSorted(),
    'network.allow_private': (network.allowPrivate ?? []).toSorted(),
    'network.inspect_tls': network.inspectTls ?? false,
    'network.trace_context': network.traceContext ?? false,
    programs: policy.programs?.allow.toSorted(),
    python_wasm: pythonWasm,
    generated_code: policy.generatedCode ?? true,
    native_programs: policy.nativePrograms ?? false,
    secrets: policy.secrets ?? ['environment'],
    'skills and publishers': rulesOf(policy),
    sources: policy.sources ?? [],
    guard: policy.guard ?? [],
    flows: (policy.flows ?? []).map((rule) => JSON.stringify(rule)).sort(),
  };
}

function stricterMinimum(
  one: OperatorPolicy['minimum'],
  other: OperatorPolicy['minimum'],
): OperatorPolicy['minimum'] {
  const stronger = (left: Mode, right: Mode): Mode =>
    MODES[left].strength >= MODES[right].strength ? left : right;
  const origins = Object.keys(one) as (keyof OperatorPolicy['minimum'])[];
  const entries = origins.map((origin) => [origin, stronger(one[origin], other[origin])]);
  return Object.fromEntries(entries) as OperatorPolicy['minimum'];
}

function lowest(
  one: OperatorPolicy['ceilings'],
  other: OperatorPolicy['ceilings'],
): OperatorPolicy['ceilings'] {
  const limits = Object.keys(one) as (keyof OperatorPolicy['ceilings'])[];
  const entries = limits.map((limit) => [limit, Math.min(one[limit], other[limit])]);
  return Object.fromEntries(entries) as OperatorPolicy['ceilings'];
}

function stricterPaths(
  one: OperatorPolicy['filesystem'],
  other: OperatorPolicy['filesystem'],
): OperatorPolicy['filesystem'] {
  if (isDeepStrictEqual(one, other) || isWithinPaths(one, other)) return one;
  if (isWithinPaths(other, one)) return other;
  return {
    allow: one.allow,
    within: [...(one.within ?? []), other.allow, ...(other.within ?? [])],
  };
}

function isWithinPaths(
  { allow }: OperatorPolicy['filesystem'],
  outer: OperatorPolicy['filesystem'],
): boolean {
  const lists = [outer.allow, ...(outer.within ?? [])];
  return allow.every((pattern) =>
    lists.every((list) => list.some((known) => pathCoversPattern(known, pattern))),
  );
}

function stricterEnv(one: OperatorPolicy['env'], other: OperatorPolicy['env']): OperatorPolicy['env'] {
  const allow = one.allow && other.allow ? stricterList(one.allow, other.allow) : (one.allow ?? other.allow);
  const vouched = stricterList(one.vouched ?? [], other.vouched ?? []);
  return { ...(allow ? { allow: [...allow] } : {}), ...optional('vouched', vouched) };
}

function stricterNetwork(
  one: OperatorPolicy['network'],
  other: OperatorPolicy['network'],
): OperatorPolicy['network'] {
  const allow = stricterHosts(one.allow, other.allow);
  const addresses = stricterList(one.allowPrivate ?? [], other.allowPrivate ?? []);
  return {
    ...(allow ? { allow: [...allow] } : {}),
    ...optional('allowPrivate', addresses),
    // Either value permits something that the other forbids, so a change always waits for the operator.
    ...(one.inspectTls ? { inspectTls: true } : {}),
    ...(one.traceContext && other.traceContext ? { traceContext: true } : {}),
  };
}

function stricterHosts(one?: string[], other?: string[]): string[] | undefined {
  if (!one || !other) return one ?? other;
  const isWithin = (inner: string[], outer: string[]): boolean =>
    inner.every((host) => outer.some((pattern) => hostCovers(pattern, host)));
  if (isWithin(other, one)) return other;
  return isWithin(one, other) ? one : commonHosts(one, other);
}

function stricterFreshness(
  { pythonWasm: one }: OperatorPolicy,
  { pythonWasm: other }: OperatorPolicy,
): Pick<OperatorPolicy, 'pythonWasm'> {
  if (!one && !other) return {};
  return {
    pythonWasm: {
      newInstance: (one?.newInstance ?? false) || (other?.newInstance ?? false),
      strict: (one?.strict ?? false) || (other?.strict ?? false),
    },
  };
}

type Rules = Pick<OperatorPolicy, 'skills' | 'publishers' | 'furtherRules'>;

function stricterRules(inForce: OperatorPolicy, file: OperatorPolicy): Rules {
  const [one, other] = [rulesOf(inForce), rulesOf(file)];
  if (isAtLeast(other, one)) return asKeys(other);
  return asKeys(isAtLeast(one, other) ? one : [...other, ...one]);
}

function asKeys([own, ...further]: readonly TrustRules[]): Rules {
  return {
    ...(own ? { skills: [...own.skills], publishers: [...own.publishers] } : {}),
    ...(further.length > 0 ? { furtherRules: further } : {}),
  };
}

/** All rule sets must admit a skill, so it is enough that each set has a stricter counterpart. A wrong "no" is possible. */
function isAtLeast(rules: readonly TrustRules[], other: readonly TrustRules[]): boolean {
  return other.every((set) => rules.some((own) => isAtLeastSet(own, set)));
}

function isAtLeastSet(own: TrustRules, other: TrustRules): boolean {
  const isNewDenial = (rule: SkillRule): boolean => rule.decision === 'deny' && !includes(other.skills, rule);
  const rest = own.skills.filter((rule) => !isNewDenial(rule));
  return isDeepStrictEqual(rest, [...other.skills]) && isSubset(own.publishers, other.publishers);
}

function stricterGuard<T>(one: readonly T[], other: readonly T[]): readonly T[] {
  if (isSubset(one, other)) return other;
  return [...one, ...other.filter((rule) => !includes(one, rule))];
}

/** The values that both lists have; keeps the order of the list that is the answer. */
function stricterList<T>(one: readonly T[], other: readonly T[]): T[] {
  return [...other].filter((value) => includes(one, value));
}

function isSubset(inner: readonly unknown[], outer: readonly unknown[]): boolean {
  return inner.every((value) => includes(outer, value));
}

function includes(list: readonly unknown[], value: unknown): boolean {
  return list.some((known) => isDeepStrictEqual(known, value));
}

function union<T>(one: readonly T[], other: readonly T[]): T[] {
  return [...new Set([...one, ...other])];
}

function optional<Key extends string, T>(key: Key, list: readonly T[]): Partial<Record<Key, T[]>> {
  return list.length === 0 ? {} : ({ [key]: [...list] } as Partial<Record<Key, T[]>>);
}
