/**
 * The operator's policy file: the most that skills may do, whatever their manifests ask for.
 * A key that this version does not enforce is an error; it is never silently ignored.
 *
 * @module
 */
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { SkillError } from '../errors.ts';
import type { Origin } from '../vocabulary/origins.ts';
import { programNameProblem, skillPatternProblem } from '../manifest/names.ts';
import { describeProblem, type ManifestProblem } from '../manifest/problems.ts';
import { parseDuration, parseSize } from '../manifest/units.ts';
import { readYaml } from '../manifest/yaml-source.ts';
import type { Mode } from '../vocabulary/modes.ts';
import type { TrustRules } from '../trust/admission.ts';
import type { GuardRule } from '../trust/guard.ts';
import type { Publisher } from '../trust/publishers.ts';
import type { SkillRule } from '../trust/skill-rules.ts';
import type { FlowRule } from './flow-rules.ts';
import type { GrantedLimits } from './grant.ts';
import { DEFAULT_CEILINGS, LIMIT_ROWS, type Unit } from '../vocabulary/limits.ts';
import { DEFAULT_MINIMUM } from '../vocabulary/origins.ts';
import { mapTable } from '../vocabulary/table.ts';
import { minimumKeys, type MinimumRule } from './minimum.ts';
import { isHostPattern, pathSegments } from './patterns.ts';
import { pythonFreshness, type PythonFreshness } from './python-freshness.ts';
import { secretSources, type SecretSource } from './secret-sources.ts';
import { sourceRules, unknownPublisher, type SourceRule, type SourceRules } from './source-rules.ts';
import { guardRules, publishers, skillRules } from './trust-keys.ts';

/** A parsed policy, or several combined into one. */
export interface OperatorPolicy {
  /** The file it was read from; for a combined policy, the nearest one. */
  file?: string;
  /** All files that it was combined from, outermost first. */
  files?: string[];
  /** Weakest mode that a skill of this origin may run in. */
  minimum: Record<Origin, Mode>;
  /** Origins whose minimum the operator set explicitly. */
  minimumSet?: Origin[];
  /** Further rules for names and origins; a skill must meet all that apply to it. */
  minimumRules?: MinimumRule[];
  /** Finite for every limit. */
  ceilings: GrantedLimits;
  /** Limits that the operator set explicitly: they must be enforced or the load is refused. */
  ceilingsSet: (keyof GrantedLimits)[];
  /** Path patterns, absolute or below `${workspace}`. Each list of `within` must also cover a path. */
  filesystem: { allow: string[]; within?: string[][] };
  /**
   * Without `allow`, what manifests declare. Variables in `vouched` also go to skills that are not approved: those that
   * `allow` names in a policy that a person wrote or trusted.
   */
  env: { allow?: string[]; vouched?: string[] };
  /** If absent, what manifests declare. */
  network: { allow?: string[]; allowPrivate?: string[]; inspectTls?: boolean; traceContext?: boolean };
  /** System programs that commands may start directly; if absent, what manifests declare. */
  programs?: { allow: string[] };
  /** If absent, only the memory is new for every call. */
  pythonWasm?: PythonFreshness;
  /** Sources of secrets; if absent, the environment. */
  secrets?: SecretSource[];
  /** By name, first match wins. If absent, every skill is allowed, inside its cell. */
  skills?: SkillRule[];
  /** Publishers whose signatures are accepted. */
  publishers?: Publisher[];
  /** Where skills may be fetched from: the rules of each file, all of which must allow a source. */
  sources?: SourceRules[];
  /** Rules of the other files that it was combined from; each must admit a skill. */
  furtherRules?: TrustRules[];
  /** Applied before every call; the strictest answer counts. */
  guard?: GuardRule[];
  /** False: only code of the bundle runs, never code that comes with a call. Absent: true. */
  generatedCode?: boolean;
  /** Whether programs may run natively in a jail, instead of in Wasm; absent: no. */
  nativePrograms?: boolean;
  /** What came from some skills may only be given to skills with these hosts; every rule counts. */
  flows?: FlowRule[];
}

/** The policy in force without a policy file. */
export const DEFAULT_POLICY: OperatorPolicy = {
  minimum: DEFAULT_MINIMUM,
  ceilings: DEFAULT_CEILINGS,
  ceilingsSet: [],
  filesystem: { allow: ['${workspace}/**'] },
  env: {},
  network: {},
};

const amount = z.union([z.string(), z.number()], { error: 'must be a number with a unit' });
const AMOUNTS = {
  duration: amount.transform(asTransform(parseDuration)),
  size: amount.transform(asTransform(parseSize)),
  count: z.int().nonnegative(),
} satisfies Record<Unit, z.ZodType<number>>;
const pathPattern = z.string().refine(isPathPattern, {
  error: 'must be absolute or start with "${workspace}", without ".." segments',
});
const hostPattern = z.string().refine(isHostPattern, {
  error: 'must be a host name, an address, or "*." and a host name',
});
const envName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, { error: 'must be the name of a variable' });

const programName = z.string().refine((name) => programNameProblem(name) === undefined, {
  error: 'must be the name of a program, without a folder',
});

const skillPattern = z.string().refine((pattern) => skillPatternProblem(pattern) === undefined, {
  error: 'must be the name of a skill, or a pattern such as "finance/*"',
});

const address = z.union([z.ipv4(), z.ipv6()], { error: 'must be an address' });

const schema = z.strictObject({
  minimum: minimumKeys.optional(),
  ceilings: z.strictObject(mapTable(LIMIT_ROWS, (_, { unit }) => AMOUNTS[unit].optional())).optional(),
  filesystem: z.strictObject({ allow: z.array(pathPattern) }).optional(),
  env: z.strictObject({ allow: z.array(envName) }).optional(),
  network: z
    .strictObject({
      allow: z.array(hostPattern),
      allow_private: z.array(address),
      inspect_tls: z.boolean(),
      trace_context: z.boolean(),
    })
    .partial()
    .optional(),
  programs: z.strictObject({ allow: z.array(programName) }).optional(),
  python_wasm: pythonFreshness.optional(),
  secrets: secretSources.optional(),
  skills: skillRules.optional(),
  publishers: publishers.optional(),
  sources: sourceRules.optional(),
  guard: guardRules.optional(),
  generated_code: z.boolean().optional(),
  native_programs: z.boolean().optional(),
  flows: z.array(z.strictObject({ from: skillPattern, hosts: z.array(hostPattern) })).optional(),
});

/** Reads a policy file's text. Missing keys keep the value of DEFAULT_POLICY. */
export function parsePolicy(text: string, options: { file: string }): OperatorPolicy {
  const parsed = schema.safeParse(readPolicyYaml(text, options.file) ?? {});
  if (!parsed.success) throw refusedPolicy(parsed.error.issues, options.file);
  const { minimum, ceilings, filesystem, env, network, skills, publishers: known, guard } = parsed.data;
  const set = (ceilings ?? {}) as Partial<GrantedLimits>;
  const ownPublishers = known?.map((one) => resolveRoot(one, options.file));
  return {
    file: options.file,
    minimum: { ...DEFAULT_POLICY.minimum, ...minimum?.origins },
    ...(minimum ? { minimumSet: Object.keys(minimum.origins) as Origin[] } : {}),
    ...(minimum && minimum.rules.length > 0 ? { minimumRules: minimum.rules } : {}),
    ceilings: { ...DEFAULT_POLICY.ceilings, ...set },
    ceilingsSet: Object.keys(set) as (keyof GrantedLimits)[],
    filesystem: filesystem ?? DEFAULT_POLICY.filesystem,
    env: env ? { allow: env.allow, vouched: env.allow } : DEFAULT_POLICY.env,
    network: networkPolicy(network),
    ...(parsed.data.programs ? { programs: parsed.data.programs } : {}),
    ...(parsed.data.python_wasm ? { pythonWasm: parsed.data.python_wasm } : {}),
    ...(parsed.data.secrets ? { secrets: parsed.data.secrets } : {}),
    ...(skills ? { skills } : {}),
    ...(ownPublishers ? { publishers: ownPublishers } : {}),
    ...sourcesOf(parsed.data.sources, ownPublishers ?? [], options.file),
    ...(guard ? { guard } : {}),
    ...(parsed.data.generated_code === undefined ? {} : { generatedCode: parsed.data.generated_code }),
    ...(parsed.data.native_programs === undefined ? {} : { nativePrograms: parsed.data.native_programs }),
    ...(parsed.data.flows ? { flows: parsed.data.flows } : {}),
  };
}

/** A rule that names a publisher whom the file does not have could never be met. */
function sourcesOf(
  rules: SourceRule[] | undefined,
  known: Publisher[],
  file: string,
): Pick<OperatorPolicy, 'sources'> {
  if (!rules) return {};
  const path = unknownPublisher({ rules, publishers: known });
  const message = 'names a publisher that "publishers" of this file does not have';
  if (path) throw refusedPolicy([{ code: 'custom', path, message, input: rules }], file);
  return { sources: [{ rules, publishers: known }] };
}

/** Applies the same caps as for manifests, because a policy may come with a cloned project. */
function readPolicyYaml(text: string, file: string): unknown {
  try {
    return readYaml(text, { file, maxAliases: 0 }).value;
  } catch (cause) {
    const problems = cause instanceof SkillError ? cause.detail['problems'] : undefined;
    const [first] = (problems ?? []) as ManifestProblem[];
    const message = first ? describeProblem(first) : String(cause);
    throw new SkillError('usage', `Cannot read the policy "${file}" as YAML: ${message}`, {
      fix: 'Correct the YAML at the named place. Aliases are not allowed.',
      detail: { file },
      cause,
    });
  }
}

function refusedPolicy(issues: z.core.$ZodIssue[], file: string): SkillError {
  const [issue] = issues;
  const unknown = issue?.code === 'unrecognized_keys' ? issue.keys : [];
  const at = [...(issue?.path ?? []), ...unknown.slice(0, 1)].map(String).join('.') || 'the top level';
  const message = unknown.length > 0 ? 'this version does not enforce this key' : (issue?.message ?? '');
  return new SkillError('usage', `Refused the policy "${file}" at "${at}": ${message}`, {
    fix:
      unknown.length > 0
        ? `Remove "${at}": a rule that is not enforced would only look like protection.`
        : `Correct "${at}" in "${file}".`,
    detail: { file, at },
  });
}

type Conversion = (value: string | number, context: z.RefinementCtx) => number;

/** A unit parser as a zod transform: its message becomes the issue at the right key. */
function asTransform(parse: (value: string | number) => number): Conversion {
  return (value, context) => {
    try {
      return parse(value);
    } catch (error) {
      context.addIssue(error instanceof Error ? error.message : String(error));
      return z.NEVER;
    }
  };
}

function isPathPattern(pattern: string): boolean {
  const isRooted = pattern.startsWith('/') || /^\$\{workspace\}(?:\/|$)/.test(pattern);
  return isRooted && pathSegments(pattern) !== undefined;
}

interface NetworkKeys {
  allow?: string[] | undefined;
  allow_private?: string[] | undefined;
  inspect_tls?: boolean | undefined;
  trace_context?: boolean | undefined;
}

function networkPolicy(given: NetworkKeys = {}): OperatorPolicy['network'] {
  const { allow, allow_private: allowPrivate, inspect_tls: inspectTls, trace_context: traceContext } = given;
  return {
    ...(allow ? { allow } : {}),
    ...(allowPrivate ? { allowPrivate } : {}),
    ...(inspectTls ? { inspectTls } : {}),
    ...(traceContext ? { traceContext } : {}),
  };
}

/** The path of a trusted root is relative to the policy file. */
function resolveRoot(publisher: Publisher, file: string): Publisher {
  if ('key' in publisher) return publisher;
  return { ...publisher, trustedRoot: resolve(dirname(file), publisher.trustedRoot) };
}
