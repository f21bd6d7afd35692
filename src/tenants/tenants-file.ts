/**
 * The operator's file of tenants: for each one a workspace, secrets, variables, a policy, limits and uploads, and the
 * issuers whose tokens name tenants. A key that this version does not enforce is an error.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import { dirname, isAbsolute, resolve } from 'node:path';
import { z } from 'zod';
import { SkillError } from '../errors.ts';
import { readYaml } from '../manifest/yaml-source.ts';
import { namedPolicy } from '../policy/in-force.ts';
import type { OperatorPolicy } from '../policy/operator.ts';
import type { SecretSource } from '../policy/secret-sources.ts';
import type { TenantContext } from '../policy/tenant-context.ts';
import { wideningKeys } from '../policy/widening.ts';
import { JWT_ALGORITHMS, type JwtAlgorithm } from '../vocabulary/jwt-algorithms.ts';
import { size, tenantLimitSchema, type TenantLimits } from './limits.ts';
import { assertApart, foreignTo } from './places.ts';

export const TENANTS_FILE = 'skillcell.tenants.yaml';

/** How much a tenant may upload. */
export interface UploadLimits {
  /** Number of skills. */
  skills: number;
  /** Bytes of all files together. */
  bytes: number;
  /** Bytes of one archive. */
  size: number;
}

/** One tenant: what its calls get, and how much it may use. */
export interface Tenant {
  readonly context: TenantContext;
  readonly limits: TenantLimits;
  /** Absent: it may not upload skills. */
  readonly uploads?: UploadLimits | undefined;
  /** Lists of patterns; of the offered skills, the tenant sees those that match all lists. Empty: all of them. */
  readonly skills: readonly (readonly string[])[];
}

/** Scopes that a token of an issuer can have. `admin` is only for tokens of the access file. */
const ISSUER_SCOPES = ['call', 'read', 'metrics', 'upload'] as const;
export type IssuerScope = (typeof ISSUER_SCOPES)[number];

/** Whose tokens are accepted, and which tenant each belongs to. */
export interface Issuer {
  readonly issuer: string;
  readonly audience: string;
  /** Address of its keys. */
  readonly jwks: string;
  readonly algorithms: readonly JwtAlgorithm[];
  /** The claim that names the tenant. */
  readonly claim: string;
  /** Tenants by the value of the claim. */
  readonly tenants: Readonly<Record<string, string>>;
  readonly scopes: readonly IssuerScope[];
}

/** Everything that the file says. */
export interface TenantBook {
  readonly tenants: ReadonlyMap<string, Tenant>;
  readonly issuers: readonly Issuer[];
  /** Tenants of tokens that belong to the operator: with the scope `metrics`, they see the metrics of all. */
  readonly operators: readonly string[];
  /** Every file that it was read from. */
  readonly files: readonly string[];
}

export interface ReadTenantsOptions {
  file: string;
  /** What the policies of tenants must not exceed. */
  policy: OperatorPolicy;
  /** Files and folders of the operator, which no tenant may have. */
  own: readonly string[];
}

const tenantName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/, 'only letters, digits, ".", "_" and "-"');
const path = z.string().min(1).max(4096);
const source = z.union(
  [z.strictObject({ file: path }), z.strictObject({ command: z.array(z.string().min(1)).min(1) })],
  {
    error: 'must be { file: PATH } or { command: [PROGRAM, ARGUMENT, …] }',
  },
);
/** Only this machine may be asked without encryption. */
const address = z.url({ protocol: /^https?$/ }).refine(isSafeAddress, {
  error: 'must start with https://, or with http:// and an address of this machine',
});

const issuerSchema = z.strictObject({
  issuer: z.string().min(1).max(1000),
  audience: z.string().min(1).max(1000),
  jwks: address,
  algorithms: z.array(z.enum(JWT_ALGORITHMS)).min(1),
  claim: z.string().min(1).max(200),
  tenants: z.record(z.string().min(1).max(1000), tenantName),
  scopes: z.array(z.enum(ISSUER_SCOPES)).min(1),
});

const tenantSchema = z.strictObject({
  workspace: path.optional(),
  secrets: z.array(source).default([]),
  env: z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), z.string()).default({}),
  policy: path.optional(),
  skills: z.array(z.string().min(1)).optional(),
  limits: tenantLimitSchema.default({}),
  uploads: z
    .strictObject({
      skills: z.int().min(1).max(10_000).default(20),
      bytes: size.default(64 * 1024 ** 2),
      size: size.default(8 * 1024 ** 2),
    })
    .optional(),
});

const fileSchema = z.strictObject({
  version: z.literal(1),
  tenants: z.record(tenantName, tenantSchema),
  issuers: z.array(issuerSchema).max(100).default([]),
  operators: z.array(tenantName).default([]),
});

type FileTenant = z.infer<typeof tenantSchema>;

/** Throws `usage` if anything in the file cannot be enforced as it is written. */
export function readTenants(options: ReadTenantsOptions): TenantBook {
  const { file, own } = options;
  const parsed = fileSchema.safeParse(yamlOf(file) ?? {});
  if (!parsed.success) throw refused(file, z.prettifyError(parsed.error).replaceAll('\n', ' '));
  const { tenants: given, issuers, operators } = parsed.data;
  const named = Object.entries(given);
  assertDistinct(file, [...Object.keys(given), ...operators]);
  for (const { tenants } of issuers) assertKnown(file, Object.values(tenants), given);
  const drafts = named.map(([name, one]) => tenantFrom({ name, one }, options));
  const files = [file, ...drafts.flatMap(({ context: { policy } }) => policy?.file ?? [])];
  const contexts = drafts.map(({ context }) => context);
  assertApart({ contexts, own: [...own, ...files], refuse: (reason) => refused(file, reason) });
  const tenants = drafts.map((draft): [string, Tenant] => {
    const foreign = [...foreignTo(draft.context, contexts), ...own, ...files];
    return [draft.context.name, { ...draft, context: { ...draft.context, foreign } }];
  });
  return { tenants: new Map(tenants), issuers, operators, files };
}

function tenantFrom({ name, one }: { name: string; one: FileTenant }, options: ReadTenantsOptions): Tenant {
  const at = (given: string): string => resolve(dirname(options.file), given);
  const policy = one.policy === undefined ? undefined : overlayOf(name, at(one.policy), options);
  const context: TenantContext = {
    name,
    ...(one.workspace === undefined ? {} : { workspace: at(one.workspace) }),
    secrets: one.secrets.map((given): SecretSource => ('file' in given ? { file: at(given.file) } : given)),
    env: one.env,
    ...(policy ? { policy } : {}),
    foreign: [],
  };
  const { limits, uploads, skills } = one;
  return { context, limits, skills: skills ? [skills] : [], ...(uploads ? { uploads } : {}) };
}

/** A policy that grants more than the operator's would only look as if it did. */
function overlayOf(name: string, file: string, { policy, file: named }: ReadTenantsOptions): OperatorPolicy {
  const overlay = namedPolicy(file);
  if (overlay.secrets)
    throw refused(named, `the policy of "${name}" names secrets; they belong under "secrets" of the tenant`);
  const wider = wideningKeys(overlay, policy);
  if (wider.length === 0) return overlay;
  const keys = wider.map((key) => `"${key}"`).join(', ');
  throw refused(named, `the policy of "${name}" grants more than the operator policy (${keys})`);
}

function yamlOf(file: string): unknown {
  try {
    return readYaml(readFileSync(file, 'utf8'), { file, maxAliases: 0 }).value;
  } catch (cause) {
    throw refused(file, cause instanceof Error ? cause.message : String(cause));
  }
}

/** Names become folders, which some file systems do not tell apart by case. */
function assertDistinct(file: string, names: readonly string[]): void {
  const seen = new Map<string, string>();
  for (const name of names) {
    const other = seen.get(name.toLowerCase());
    if (other !== undefined)
      throw refused(file, `the names "${other}" and "${name}" are the same or differ only in case`);
    seen.set(name.toLowerCase(), name);
  }
}

function assertKnown(file: string, names: readonly string[], known: Readonly<Record<string, unknown>>): void {
  const missing = names.find((name) => !Object.hasOwn(known, name));
  if (missing !== undefined)
    throw refused(file, `an issuer names the tenant "${missing}", which is not there`);
}

function isSafeAddress(text: string): boolean {
  const url = URL.parse(text);
  if (url?.protocol === 'https:') return true;
  return url !== null && ['127.0.0.1', '[::1]', 'localhost'].includes(url.hostname);
}

function refused(file: string, reason: string): SkillError {
  return new SkillError('usage', `Refused the tenants of "${file}": ${reason}`, {
    fix: isAbsolute(file) ? `Correct "${file}".` : 'Correct the file.',
    detail: { file },
  });
}
