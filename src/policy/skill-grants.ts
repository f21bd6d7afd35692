/**
 * What a person gives to one call of an Agent Skills folder, which has no manifest of its own. It is added to what the
 * skill declares before the policy is applied, so the policy still only narrows.
 *
 * @module
 */
import { resolve } from 'node:path';
import { SkillError } from '../errors.ts';
import type { Bundle } from '../load/bundle.ts';
import type { FilesystemRule, Limits, Manifest, NetworkRule } from '../manifest/manifest.ts';
import { addToManifest } from '../manifest/add-to-manifest.ts';
import { envNameProblem, programNameProblem } from '../manifest/names.ts';
import { filesystemPathProblem, hostProblem, WORKSPACE } from '../manifest/places.ts';
import { quote } from '../manifest/quote.ts';
import { isSet } from './combine.ts';
import { readDeclaredPath } from './guest-paths.ts';
import type { OperatorPolicy } from './operator.ts';

/** Permissions for one call. Only a person or the embedding program may give them, never an agent. */
export interface SkillGrants {
  /** Files and folders to read: absolute, or relative to the workspace. */
  read?: readonly string[] | undefined;
  /** Files and folders to read and write. */
  write?: readonly string[] | undefined;
  /** `HOST` or `HOST:PORT` for https with any method; `http://HOST:PORT` for plain http. */
  hosts?: readonly string[] | undefined;
  /** Variables whose values the skill may read. */
  env?: readonly string[] | undefined;
  /** System programs that the command may start directly. */
  programs?: readonly string[] | undefined;
  /** In milliseconds and bytes; the ceilings of the policy still apply. */
  limits?: Limits | undefined;
}

export interface GivenToCall {
  grants?: SkillGrants | undefined;
  /** The host folder of the call's workspace. */
  workspace?: string | undefined;
  /** The folder of relative paths in a call without a workspace. */
  cwd: string;
}

export type GivenBundle = Pick<Bundle, 'kind' | 'manifest' | 'files' | 'overlay'>;

/** The manifest of the call: what the skill declares, and what this call is given. */
export function manifestOfCall(bundle: GivenBundle, given: GivenToCall): Manifest {
  const { kind, manifest } = bundle;
  const { grants = {} } = given;
  if (kind !== 'script') {
    assertNothingGiven(manifest, grants);
    return manifest;
  }
  return addToManifest(manifest, {
    capabilities: {
      filesystem: [...impliedRules(bundle, given), ...pathRules(grants, given)],
      network: (grants.hosts ?? []).map(hostRule),
      programs: (grants.programs ?? []).map((name) => checked(name, '--program', programNameProblem)),
    },
    env: Object.fromEntries(
      (grants.env ?? []).map((name) => [
        checked(name, '--env', envNameProblem),
        { required: true, secret: false, hosts: [] },
      ]),
    ),
    limits: grants.limits ?? {},
  });
}

/** Reading the workspace, unless the manifest of the folder names the parts of it that the skill needs. */
function impliedRules(
  { manifest, files, overlay }: GivenBundle,
  { workspace }: GivenToCall,
): FilesystemRule[] {
  const own = (overlay?.base ?? manifest).capabilities.filesystem;
  const isNarrowed =
    Object.hasOwn(files, 'manifest.yaml') &&
    own.some(({ path }) => path === WORKSPACE || path.startsWith(`${WORKSPACE}/`));
  return workspace === undefined || isNarrowed ? [] : [{ path: WORKSPACE, access: 'read' }];
}

/**
 * The list of paths that the default policy allows is about what skills ask for. A person at the command line may name
 * others, unless a policy sets the list.
 */
export function policyOfCall(policy: OperatorPolicy, given: GivenToCall): OperatorPolicy {
  if (isSet(policy.filesystem) || !given.grants) return policy;
  const named = pathRules(given.grants, given).map(({ path }) => path);
  if (named.length === 0) return policy;
  return { ...policy, filesystem: { allow: [...policy.filesystem.allow, ...named] } };
}

/** A skill with parameters and a result declares what it needs; options for its caller would hide that. */
function assertNothingGiven({ name }: Manifest, grants: SkillGrants): void {
  const { read, write, hosts, programs, limits } = grants;
  const given = [read, write, hosts, programs, limits].some((one) => Object.keys(one ?? {}).length > 0);
  if (!given) return;
  throw new SkillError('usage', `The skill "${name}" has a manifest, so a call cannot be given more`, {
    fix: 'Leave out --write, --host, --program and --processes (library: grants), and declare it under "capabilities" in its manifest.',
  });
}

function pathRules({ read = [], write = [] }: SkillGrants, given: GivenToCall): FilesystemRule[] {
  return [
    ...read.map((path) => pathRule({ path, access: 'read' }, given)),
    ...write.map((path) => pathRule({ path, access: 'read-write' }, given)),
  ];
}

function pathRule({ path: text, access }: FilesystemRule, given: GivenToCall): FilesystemRule {
  const rule = { path: declaredPath(text, given), access };
  const problem = text === '' ? 'it is empty' : (filesystemPathProblem(rule.path) ?? reservedProblem(rule));
  if (problem === undefined) return rule;
  throw new SkillError('usage', `Cannot give the path ${quote(text)} to the call: ${problem}`, {
    fix: 'Pass --workspace DIR and a path inside it, or an absolute path outside the system folders.',
    detail: { path: text },
  });
}

/** As a manifest names it: below the workspace if it is inside, else absolute. */
function declaredPath(text: string, { workspace, cwd }: GivenToCall): string {
  if (text === WORKSPACE || text.startsWith(`${WORKSPACE}/`)) return text;
  const root = workspace === undefined ? undefined : resolve(cwd, workspace);
  const path = resolve(root ?? cwd, text);
  if (root === undefined || (path !== root && !path.startsWith(`${root}/`))) return path;
  return WORKSPACE + path.slice(root.length);
}

/** A path that the cell itself uses, such as `/tmp`. */
function reservedProblem(rule: FilesystemRule): string | undefined {
  try {
    readDeclaredPath(rule);
    return undefined;
  } catch (error) {
    if (error instanceof SkillError) return error.message;
    throw error;
  }
}

const HOST = /^(?:(https?):\/\/)?(?:\[([^\]]*)\]|([^:[\]]*))(?::(\d{1,5}))?$/;

/** https at port 443 unless said otherwise, with any method and path. */
function hostRule(text: string): NetworkRule {
  const [, scheme = 'https', ipv6, name, digits] = HOST.exec(text) ?? [];
  const host = ipv6 ?? name ?? '';
  const port = digits === undefined ? undefined : Number(digits);
  const problem =
    host === '' ? 'it is not of the form HOST or HOST:PORT' : (hostProblem(host) ?? portProblem(port));
  if (problem !== undefined)
    throw new SkillError('usage', `Cannot give the host ${quote(text)} to the call: ${problem}`, {
      fix: 'Pass --host NAME or --host NAME:PORT (https), or --host http://NAME:PORT.',
    });
  const usual = scheme === 'https' ? 443 : 80;
  return {
    host,
    ...(port === undefined || port === usual ? {} : { port }),
    scheme: scheme === 'https' ? 'https' : 'http',
  };
}

function portProblem(port: number | undefined): string | undefined {
  return port === undefined || (port >= 1 && port <= 65_535) ? undefined : 'its port is not from 1 to 65535';
}

function checked(name: string, option: string, problemOf: (name: string) => string | undefined): string {
  const problem = problemOf(name);
  if (problem === undefined) return name;
  throw new SkillError('usage', `Cannot use ${option}: ${problem}`, { fix: `Pass another ${option} NAME.` });
}
