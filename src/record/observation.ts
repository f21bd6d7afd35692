/**
 * The manifest of an observed call: what the operator allows instead of what the skill declares.
 *
 * @module
 */
import { resolve } from 'node:path';
import { SkillError } from '../errors.ts';
import type { EnvRule, FilesystemRule, Manifest } from '../manifest/manifest.ts';
import { filesystemPathProblem, WORKSPACE } from '../manifest/places.ts';
import type { Grant } from '../policy/grant.ts';
import type { OperatorPolicy } from '../policy/operator.ts';

/** What a recorded call may do. Everything else is denied and recorded as requested. */
export interface Allowed {
  /** Requests to all hosts. The policy must still allow addresses that are not public. */
  network?: boolean | undefined;
  /** Folders and files: absolute, or relative to the workspace, or without one to the working directory. */
  read?: string[] | undefined;
  write?: string[] | undefined;
  /** Variables whose values the skill can read. */
  env?: string[] | undefined;
  /** Variables of which the skill sees only a placeholder; the hosts it sends them to are recorded. */
  secrets?: string[] | undefined;
  processes?: number | undefined;
  /** System programs that the command may start directly. */
  programs?: string[] | undefined;
  /** Names or patterns of the skills that it may call, each with a grant of its own. */
  skills?: string[] | undefined;
}

/** Where relative paths begin: in the workspace, or without one in the working directory. */
export interface PathBase {
  workspace?: string | undefined;
  cwd?: string;
}

export function observationManifest(manifest: Manifest, allowed: Allowed, base: PathBase = {}): Manifest {
  const { processes: _, ...limits } = manifest.limits;
  return {
    ...manifest,
    capabilities: {
      filesystem: allowedPaths(allowed, base),
      network: [],
      syscalls: manifest.capabilities.syscalls,
      // A skill that calls others finds them, so that its calls are recorded, also if they are denied.
      ...(allowed.skills || manifest.capabilities.skills ? { skills: allowed.skills ?? [] } : {}),
      ...(allowed.programs?.length ? { programs: allowed.programs } : {}),
    },
    env: allowedEnv(allowed),
    limits: { ...limits, ...(allowed.processes ? { processes: allowed.processes } : {}) },
  };
}

/** The grant of an observed call. A policy that names hosts still applies. */
function observedGrant(grant: Grant, allowed: Allowed, policy: OperatorPolicy): Grant {
  const hosts = allowed.network ? (policy.network.allow ?? ['*']) : [];
  const secrets = grant.secrets?.map((secret) => ({ ...secret, anyHost: true as const }));
  return { ...grant, ...(secrets ? { secrets } : {}), observe: { hosts } };
}

/** The policy of a call, and for an observed call also the adjustment of its grant. */
export function observedInput(
  policy: OperatorPolicy,
  manifest: Manifest,
  observed: Pick<WeakMap<Manifest, Allowed>, 'get'>,
): { policy: OperatorPolicy; adjust?: (grant: Grant) => Grant } {
  const allowed = observed.get(manifest);
  if (!allowed) return { policy };
  return {
    policy: observationPolicy(policy, manifest),
    adjust: (grant) => observedGrant(grant, allowed, policy),
  };
}

/** Extends the policy by the paths and variables that the operator allowed for this call. */
function observationPolicy(policy: OperatorPolicy, { capabilities, env }: Manifest): OperatorPolicy {
  const named = capabilities.filesystem.map(({ path }) => path);
  const { allow, within = [] } = policy.filesystem;
  return {
    ...policy,
    filesystem: { allow: [...allow, ...named], within: within.map((list) => list.concat(named)) },
    env: { ...policy.env, vouched: [...(policy.env.vouched ?? []), ...Object.keys(env)] },
  };
}

function allowedPaths({ read = [], write = [] }: Allowed, base: PathBase): FilesystemRule[] {
  const rules = new Map<string, FilesystemRule>();
  for (const path of read.map((one) => declaredPath(one, base))) rules.set(path, { path, access: 'read' });
  for (const path of write.map((one) => declaredPath(one, base)))
    rules.set(path, { path, access: 'read-write' });
  return [...rules.values()];
}

/** A path as a manifest names it. Relative ones begin where those of `exec --write` do. */
function declaredPath(given: string, { workspace, cwd = process.cwd() }: PathBase): string {
  const root = workspace === undefined ? undefined : resolve(cwd, workspace);
  const path = given.startsWith(WORKSPACE) ? given : inWorkspace(resolve(root ?? cwd, given), root);
  const problem = filesystemPathProblem(path);
  if (problem === undefined) return path;
  throw new SkillError('usage', `Cannot allow a path: ${problem}`, {
    fix: 'Pass the path of a folder or a file.',
  });
}

function inWorkspace(path: string, root: string | undefined): string {
  const isInside = root !== undefined && (path === root || path.startsWith(`${root}/`));
  return isInside ? WORKSPACE + path.slice(root.length) : path;
}

function allowedEnv({ env = [], secrets = [] }: Allowed): Record<string, EnvRule> {
  return Object.fromEntries([
    ...env.map((name) => [name, { required: true, secret: false, hosts: [] }] as const),
    ...secrets.map((name) => [name, { required: true, secret: true, hosts: [] }] as const),
  ]);
}
