/**
 * The manifest's fields as schemas. `capabilities`, `limits` and `container` are closed, because an unknown key there is a
 * restriction or grant that would not be enforced. Elsewhere unknown keys cause a warning.
 *
 * @module
 */
import { z } from 'zod';
import { SkillError } from '../errors.ts';
import type { ExecutionDemand, Mode } from '../vocabulary/modes.ts';
import type { FilesystemRule, Limits, NetworkRule, SyscallRule } from './manifest.ts';
import { containerParamsProblem, containerUserProblem, imageProblem, paramsVariable } from './container.ts';
import {
  envNameProblem,
  NO_VERSION,
  programNameProblem,
  requirementProblem,
  skillNameProblem,
  skillPatternProblem,
  VERSION,
} from './names.ts';
import {
  bundlePathProblem,
  filesystemPathProblem,
  hostProblem,
  isBundlePath,
  urlPathProblem,
} from './places.ts';
import { SCHEMES } from '../vocabulary/network-schemes.ts';
import { PATH_ACCESS } from '../vocabulary/path-access.ts';
import { LIMIT_ROWS, type Unit } from '../vocabulary/limits.ts';
import { EXECUTION_DEMAND_NAMES, isIsolated, MODE_NAMES } from '../vocabulary/modes.ts';
import { mapTable } from '../vocabulary/table.ts';
import { parseDuration, parseSize } from './units.ts';

type Rule = (value: string) => string | undefined;

function text(rule: Rule): z.ZodString {
  return z.string().superRefine((value, context) => {
    const problem = rule(value);
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
  });
}

function quantity(parse: (value: string | number) => number): z.ZodType<number> {
  return z
    .union([z.string(), z.number()], { error: 'Expected a text or a number' })
    .transform((value, context) => {
      try {
        return parse(value);
      } catch (error) {
        context.addIssue({
          code: 'custom',
          message: error instanceof SkillError ? error.message : String(error),
        });
        return z.NEVER;
      }
    });
}

function pattern(expression: RegExp, expected: string): z.ZodString {
  return z.string().regex(expression, { error: `Expected ${expected}` });
}

function listOf<T extends z.ZodType>(item: T): z.ZodArray<T> {
  return z.array(item).max(256);
}

const size = quantity(parseSize);
const AMOUNTS = {
  duration: quantity(parseDuration),
  size,
  count: z.int().min(0).max(65_536),
} satisfies Record<Unit, z.ZodType<number>>;
const mapping = z.record(z.string(), z.unknown());

const filesystemRule = z
  .strictObject({
    path: text(filesystemPathProblem),
    access: z.enum(PATH_ACCESS).default('read'),
    max_bytes: size.optional(),
  })
  .superRefine((rule, context) => {
    if (rule.access === 'read-write' && isBundlePath(rule.path)) {
      const message = 'Paths inside the bundle are never writable; use "${workspace}/…" or an absolute path';
      context.addIssue({ code: 'custom', path: ['access'], message });
    }
    if (rule.access === 'read' && rule.max_bytes !== undefined) {
      const message = '"max_bytes" needs access "read-write"';
      context.addIssue({ code: 'custom', path: ['max_bytes'], message });
    }
  });

const networkRule = z.strictObject({
  host: text(hostProblem),
  port: z.int().min(1).max(65_535).optional(),
  scheme: z.enum(SCHEMES).optional(),
  methods: listOf(pattern(/^[A-Z]{1,20}$/, 'a method in upper case such as "GET"'))
    .min(1)
    .optional(),
  paths: listOf(text(urlPathProblem)).min(1).optional(),
});

const syscalls = z.union(
  [
    z.enum(['default', 'strict']),
    z.strictObject({ deny: listOf(pattern(/^[a-z0-9_]{1,40}$/, 'the name of a system call')) }),
  ],
  { error: 'Expected "default", "strict" or { deny: [names of system calls] }' },
);

const capabilities = z.strictObject({
  filesystem: listOf(filesystemRule).nullable().default([]),
  network: listOf(networkRule).nullable().default([]),
  syscalls: syscalls.nullable().default('default'),
  programs: listOf(text(programNameProblem)).nullable().default([]),
  skills: listOf(text(skillPatternProblem)).nullable().default([]),
});

const limits = z.strictObject(mapTable(LIMIT_ROWS, (_, { unit }) => AMOUNTS[unit].optional()));

const container = z
  .strictObject({
    image: text(imageProblem).optional(),
    dockerfile: text(bundlePathProblem).optional(),
    build_network: z.boolean().optional(),
    // Must not start with "-", because it becomes an argument of a container engine.
    runtime: pattern(/^[a-z][a-z0-9_.-]{0,62}$/, 'the name of a runtime such as "runsc"').optional(),
    user: text(containerUserProblem).optional(),
    params: text(containerParamsProblem).optional(),
  })
  .refine(({ image, dockerfile }) => (image === undefined) !== (dockerfile === undefined), {
    error: 'Name either an image or a dockerfile',
  })
  .refine(({ build_network: network, dockerfile }) => network === undefined || dockerfile !== undefined, {
    error: '"build_network" needs a dockerfile, because an image is not built',
    path: ['build_network'],
  });

const mode = z.enum(MODE_NAMES);
const execution = z.preprocess((value) => (typeof value === 'string' ? [value] : value), listOf(mode));

const executionDemand = z.enum(EXECUTION_DEMAND_NAMES);

const envRule = z.looseObject({
  description: z.string().optional(),
  required: z.boolean().default(false),
  secret: z.boolean().default(false),
  hosts: listOf(text(hostProblem)).default([]),
});

const env = z
  .record(
    z.string(),
    z.preprocess((value) => value ?? {}, envRule),
  )
  .superRefine((rules, context) => {
    for (const [name, { secret, hosts }] of Object.entries(rules)) {
      const problem = envNameProblem(name);
      if (problem !== undefined) context.addIssue({ code: 'custom', path: [name], message: problem });
      if (!secret || hosts.length > 0) continue;
      const message =
        'A secret needs "hosts": the skill never gets the value, which is only sent to these hosts';
      context.addIssue({ code: 'custom', path: [name, 'hosts'], message });
    }
  });

/** Some bundles of Skillware write `outputs` as the JSON Schema of the whole result; the keys mean the same. */
function keysOfSchema(outputs: unknown): unknown {
  const { type, properties, ...rest } = Object(outputs) as Record<string, unknown>;
  // Other keywords, such as "required", would be ignored, so they stay and are refused.
  return type === 'object' && isMapping(properties) && Object.keys(rest).length === 0 ? properties : outputs;
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The fields that can also be in a file beside the manifest. */
export const FRAGMENT_FIELDS: { [Key in keyof FragmentFields]-?: z.ZodType<FragmentFields[Key]> } = {
  requirements: listOf(text(requirementProblem)).default([]),
  env_vars: env.default({}),
  capabilities: capabilities.optional(),
  limits: limits.default({}),
  container: container.optional(),
};

/** The fields that Skillcell itself reads. */
export const manifestFields: z.ZodType<ManifestFields> = z
  .looseObject({
    name: text(skillNameProblem),
    version: pattern(VERSION, 'a version such as "1.0.0"').default(NO_VERSION),
    description: z.string().default(''),
    short_description: z.string().optional(),
    parameters: mapping.default({ type: 'object' }),
    outputs: z.preprocess(keysOfSchema, z.record(z.string(), mapping)).default({}),
    requirements: FRAGMENT_FIELDS.requirements,
    execution: execution.default([]),
    execution_mode: executionDemand.optional(),
    entry: text(bundlePathProblem).optional(),
    idempotent: z.boolean().default(false),
    env_vars: FRAGMENT_FIELDS.env_vars,
    capabilities: FRAGMENT_FIELDS.capabilities,
    limits: FRAGMENT_FIELDS.limits,
    container: FRAGMENT_FIELDS.container,
  })
  .refine(({ execution: modes, execution_mode: demand }) => demand === undefined || mayMeet(modes), {
    error: '"isolated" contradicts "execution", which lists only "in_process"',
    path: ['execution_mode'],
  })
  .refine(
    ({ container: rule, env_vars: rules }) => !Object.hasOwn(rules, paramsVariable(rule?.params) ?? ''),
    {
      error: 'This variable is also declared under "env_vars"; use another name for the parameters',
      path: ['container', 'params'],
    },
  );

function mayMeet(modes: readonly Mode[]): boolean {
  return modes.length === 0 || modes.some(isIsolated);
}

export interface ManifestFields {
  name: string;
  version: string;
  description: string;
  short_description?: string | undefined;
  parameters: Record<string, unknown>;
  outputs: Record<string, Record<string, unknown>>;
  requirements: string[];
  execution: Mode[];
  execution_mode?: ExecutionDemand | undefined;
  entry?: string | undefined;
  idempotent: boolean;
  env_vars: Record<string, EnvFields>;
  capabilities?: CapabilityFields | undefined;
  limits: Loose<Limits>;
  container?: ContainerFields | undefined;
}

export type FragmentFields = Pick<
  ManifestFields,
  'requirements' | 'env_vars' | 'capabilities' | 'limits' | 'container'
>;

type Loose<T> = { [K in keyof T]: T[K] | undefined };

export interface EnvFields {
  description?: string | undefined;
  required: boolean;
  secret: boolean;
  hosts: string[];
}

export interface ContainerFields {
  image?: string | undefined;
  dockerfile?: string | undefined;
  build_network?: boolean | undefined;
  runtime?: string | undefined;
  user?: string | undefined;
  params?: string | undefined;
}

export interface CapabilityFields {
  filesystem: { path: string; access: FilesystemRule['access']; max_bytes?: number | undefined }[] | null;
  network: Loose<NetworkRule & { host: string }>[] | null;
  syscalls: SyscallRule | null;
  programs: string[] | null;
  skills: string[] | null;
}

export const READ_KEYS: ReadonlySet<string> = new Set([
  'name',
  'version',
  'description',
  'short_description',
  'parameters',
  'outputs',
  'requirements',
  'execution',
  'execution_mode',
  'entry',
  'idempotent',
  'env_vars',
  'capabilities',
  'limits',
  'container',
]);
/** Keys of Skillware, kept without effect. */
export const CARRIED_KEYS: ReadonlySet<string> = new Set([
  'issuer',
  'constitution',
  'category',
  'presentation',
  'tier',
  'shape',
  'target',
  'tags',
]);
export const ENV_KEYS: ReadonlySet<string> = new Set(['description', 'required', 'secret', 'hosts']);
