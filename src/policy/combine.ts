/**
 * Combines two policies. If both set a key, the stricter value wins: the result never allows what one of them forbids.
 * Only a file that a person trusts replaces keys that were in force, and even then no rule is lost.
 *
 * @module
 */
import { isDeepStrictEqual } from 'node:util';
import type { Origin } from '../vocabulary/origins.ts';
import type { Mode } from '../vocabulary/modes.ts';
import type { TrustRules } from '../trust/admission.ts';
import { MODES } from '../vocabulary/modes.ts';
import type { GrantedLimits } from './grant.ts';
import { allMinimumRules } from './minimum.ts';
import { DEFAULT_POLICY, type OperatorPolicy } from './operator.ts';
import { hostCovers } from './patterns.ts';

/** Adds a file that was found below the policy in force: for each key that it sets, the stricter value wins. */
export function restrict(inForce: OperatorPolicy, file: OperatorPolicy): OperatorPolicy {
  const secrets = restrictSecrets(inForce, file);
  return {
    ...inForce,
    ...sources(inForce, file),
    ...minimum(inForce, file, (one, other) => (MODES[one].strength >= MODES[other].strength ? one : other)),
    ...ceilings(inForce, file, Math.min),
    filesystem: restrictPaths(inForce.filesystem, file.filesystem),
    env: restrictEnv(inForce.env, file.env),
    network: restrictNetwork(inForce.network, file.network),
    ...restrictCode(inForce, file),
    ...restrictFreshness(inForce, file),
    ...(file.nativePrograms === false ? { nativePrograms: false } : {}),
    ...allFlows(inForce, file),
    ...(secrets ? { secrets } : {}),
    ...allSources(inForce, file),
    ...allRules(inForce, file),
  };
}

/** Adds a file that a person trusts: its keys replace those in force; rules are added. */
export function extend(inForce: OperatorPolicy, file: OperatorPolicy): OperatorPolicy {
  return {
    ...inForce,
    ...sources(inForce, file),
    ...minimum(inForce, file, (_, own) => own),
    ...ceilings(inForce, file, (_, own) => own),
    filesystem: isSet(file.filesystem) ? file.filesystem : inForce.filesystem,
    env: file.env.allow ? file.env : inForce.env,
    network: { ...inForce.network, ...file.network },
    ...(file.programs ? { programs: file.programs } : {}),
    ...(file.pythonWasm ? { pythonWasm: file.pythonWasm } : {}),
    ...(file.generatedCode === undefined ? {} : { generatedCode: file.generatedCode }),
    ...(file.nativePrograms === undefined ? {} : { nativePrograms: file.nativePrograms }),
    ...(file.secrets ? { secrets: file.secrets } : {}),
    ...allFlows(inForce, file),
    ...allSources(inForce, file),
    ...allRules(inForce, file),
  };
}

/** A rule only ever forbids, so every rule of every file counts. */
export function allFlows(one: OperatorPolicy, other: OperatorPolicy): Pick<OperatorPolicy, 'flows'> {
  const flows = [...(one.flows ?? []), ...(other.flows ?? [])];
  const all = flows.filter((rule, at) => flows.findIndex((first) => isDeepStrictEqual(first, rule)) === at);
  return all.length > 0 ? { flows: all } : {};
}

/** Does the file set paths itself, or does it have the default? */
export function isSet(filesystem: OperatorPolicy['filesystem']): boolean {
  return filesystem !== DEFAULT_POLICY.filesystem;
}

function sources(inForce: OperatorPolicy, { file }: OperatorPolicy): Pick<OperatorPolicy, 'file' | 'files'> {
  if (file === undefined) return {};
  return { file, files: [...filesOf(inForce), file] };
}

/** The files that the policy was combined from, outermost first. */
export function filesOf({ file, files }: Pick<OperatorPolicy, 'file' | 'files'>): string[] {
  return files ?? (file === undefined ? [] : [file]);
}

function minimum(
  inForce: OperatorPolicy,
  { minimum: own, minimumSet = [], minimumRules }: OperatorPolicy,
  decide: (before: Mode, own: Mode) => Mode,
): Pick<OperatorPolicy, 'minimum' | 'minimumSet' | 'minimumRules'> {
  const all = allMinimumRules(inForce.minimumRules, minimumRules);
  const rules = all.length > 0 ? { minimumRules: all } : {};
  if (minimumSet.length === 0) return { minimum: inForce.minimum, ...rules };
  const decided = minimumSet.map((origin): [Origin, Mode] => [
    origin,
    decide(inForce.minimum[origin], own[origin]),
  ]);
  return {
    minimum: { ...inForce.minimum, ...Object.fromEntries(decided) },
    minimumSet: union(inForce.minimumSet ?? [], minimumSet),
    ...rules,
  };
}

function ceilings(
  inForce: OperatorPolicy,
  { ceilings: own, ceilingsSet }: OperatorPolicy,
  decide: (before: number, own: number) => number,
): Pick<OperatorPolicy, 'ceilings' | 'ceilingsSet'> {
  const decided = ceilingsSet.map((limit): [keyof GrantedLimits, number] => [
    limit,
    decide(inForce.ceilings[limit], own[limit]),
  ]);
  return {
    ceilings: { ...inForce.ceilings, ...Object.fromEntries(decided) },
    ceilingsSet: union(inForce.ceilingsSet, ceilingsSet),
  };
}

function restrictPaths(
  inForce: OperatorPolicy['filesystem'],
  own: OperatorPolicy['filesystem'],
): OperatorPolicy['filesystem'] {
  if (!isSet(own)) return inForce;
  // Two patterns have no intersection pattern in general, so both are kept and a path must match both.
  return { allow: inForce.allow, within: [...(inForce.within ?? []), own.allow, ...(own.within ?? [])] };
}

function restrictEnv(inForce: OperatorPolicy['env'], own: OperatorPolicy['env']): OperatorPolicy['env'] {
  if (own.allow === undefined) return inForce;
  const allow = inForce.allow ? common(inForce.allow, own.allow) : own.allow;
  return { allow, vouched: common(inForce.vouched ?? [], allow) };
}

function restrictNetwork(
  inForce: OperatorPolicy['network'],
  own: OperatorPolicy['network'],
): OperatorPolicy['network'] {
  const allow = commonHosts(inForce.allow, own.allow);
  const addresses = own.allowPrivate
    ? common(inForce.allowPrivate ?? [], own.allowPrivate)
    : inForce.allowPrivate;
  return {
    ...(allow ? { allow } : {}),
    ...(addresses ? { allowPrivate: addresses } : {}),
    ...(inForce.inspectTls || own.inspectTls ? { inspectTls: true } : {}),
    ...(inForce.traceContext ? { traceContext: true } : {}),
  };
}

/** Code that is not of the bundle: programs of the system, and what comes with a call. */
export function restrictCode(
  inForce: OperatorPolicy,
  file: OperatorPolicy,
): Pick<OperatorPolicy, 'programs' | 'generatedCode'> {
  return { ...restrictPrograms(inForce, file), ...restrictGenerated(inForce, file) };
}

/** The programs that both allow; a policy that does not name any allows all. */
function restrictPrograms(
  { programs: before }: OperatorPolicy,
  { programs: own }: OperatorPolicy,
): Pick<OperatorPolicy, 'programs'> {
  if (!before || !own) return before || own ? { programs: { allow: (before ?? own)?.allow ?? [] } } : {};
  return { programs: { allow: common(before.allow, own.allow) } };
}

/** Two host patterns either cover one another or have nothing in common. */
export function commonHosts(one: string[] | undefined, other: string[] | undefined): string[] | undefined {
  if (!one || !other) return one ?? other;
  const shared = one.flatMap((left) =>
    other.flatMap((right) => (hostCovers(left, right) ? [right] : hostCovers(right, left) ? [left] : [])),
  );
  return [...new Set(shared)];
}

/** Off if one of them switches it off. */
function restrictGenerated(
  inForce: OperatorPolicy,
  file: OperatorPolicy,
): Pick<OperatorPolicy, 'generatedCode'> {
  return inForce.generatedCode === false || file.generatedCode === false ? { generatedCode: false } : {};
}

function restrictFreshness(
  inForce: OperatorPolicy,
  { pythonWasm: own }: OperatorPolicy,
): Partial<OperatorPolicy> {
  const before = inForce.pythonWasm;
  if (!own) return {};
  return {
    pythonWasm: {
      newInstance: own.newInstance || (before?.newInstance ?? false),
      strict: own.strict || (before?.strict ?? false),
    },
  };
}

/** The sources that both name, in the order of the policy in force. */
function restrictSecrets(
  inForce: OperatorPolicy,
  { secrets: own }: OperatorPolicy,
): OperatorPolicy['secrets'] {
  if (!own) return inForce.secrets;
  const before = inForce.secrets ?? ['environment'];
  return before.filter((source) => own.some((other) => isDeepStrictEqual(source, other)));
}

/** Each file must allow a source. */
export function allSources(
  { sources: before = [] }: OperatorPolicy,
  { sources: own = [] }: OperatorPolicy,
): Pick<OperatorPolicy, 'sources'> {
  const added = own.filter((set) => !before.some((one) => isDeepStrictEqual(one, set)));
  const all = [...before, ...added];
  return all.length > 0 ? { sources: all } : {};
}

/** The rules of each file are judged with that file's publishers, and all files must agree. */
function allRules(inForce: OperatorPolicy, file: OperatorPolicy): Partial<OperatorPolicy> {
  const guard = [...(inForce.guard ?? []), ...(file.guard ?? [])];
  const [own, ...further] = [...rulesOf(file), ...rulesOf(inForce)];
  return {
    ...(own ? { skills: [...own.skills], publishers: [...own.publishers] } : {}),
    ...(further.length > 0 ? { furtherRules: further } : {}),
    ...(guard.length > 0 ? { guard } : {}),
  };
}

/** The rules of every file that the policy was combined from. */
export function rulesOf({ skills, publishers, furtherRules = [] }: OperatorPolicy): TrustRules[] {
  if (!skills && !publishers) return [...furtherRules];
  return [{ skills: skills ?? [], publishers: publishers ?? [] }, ...furtherRules];
}

function common<T>(one: readonly T[], other: readonly T[]): T[] {
  return one.filter((value) => other.includes(value));
}

function union<T>(one: readonly T[], other: readonly T[]): T[] {
  return [...new Set([...one, ...other])];
}
