/**
 * The manifest of a call that is observed: nothing of what the skill declares, and only what the operator allows.
 *
 * @module
 */
import { resolve } from 'node:path';
import { SkillError } from '../errors.ts';
import type { EnvRule, FilesystemRule, Manifest } from '../manifest/manifest.ts';
import { filesystemPathProblem, WORKSPACE } from '../manifest/places.ts';
import type { Grant } from '../policy/grant.ts';
import type { OperatorPolicy } from '../policy/operator.ts';

/** What may happen while the needs of a skill are recorded. All the rest is denied, and noted as asked for. */
export interface Allowed {
  /** Requests to all hosts; addresses that are not public still have to be allowed by the policy. */
  network?: boolean | undefined;
  /** Folders and files on the host, or below `${workspace}`. */
  read?: string[] | undefined;
  write?: string[] | undefined;
  /** Variables whose values the skill gets to see. */
  env?: string[] | undefined;
  /** Variables that it sees a placeholder of; where it sends them is noted. */
  secrets?: string[] | undefined;
  processes?: number | undefined;
}

export function observationManifest(manifest: Manifest, allowed: Allowed, workspace?: string): Manifest {
  const { processes: _, ...limits } = manifest.limits;
  return {
    ...manifest,
    capabilities: {
      filesystem: allowedPaths(allowed, workspace),
      network: [],
      syscalls: manifest.capabilities.syscalls,
    },
    env: allowedEnv(allowed),
    limits: { ...limits, ...(allowed.processes ? { processes: allowed.processes } : {}) },
  };
}

/** The grant of an observed call. A policy that names hosts is still obeyed. */
export function observedGrant(grant: Grant, allowed: Allowed, policy: OperatorPolicy): Grant {
  const hosts = allowed.network ? (policy.network.allow ?? ['*']) : [];
  const secrets = grant.secrets?.map((secret) => ({ ...secret, anyHost: true as const }));
  return { ...grant, ...(secrets ? { secrets } : {}), observe: { hosts } };
}

/** What a call runs under: the policy, or what an observed call may do beside it. */
export function observing(
  policy: OperatorPolicy,
  manifest: Manifest,
  allowed: Allowed | undefined,
): { policy: OperatorPolicy; adjust?: (grant: Grant) => Grant } {
  if (!allowed) return { policy };
  return {
    policy: observationPolicy(policy, manifest),
    adjust: (grant) => observedGrant(grant, allowed, policy),
  };
}

/** The operator has just named these paths and variables, which no policy file can know of. */
export function observationPolicy(policy: OperatorPolicy, { capabilities, env }: Manifest): OperatorPolicy {
  const named = capabilities.filesystem.map(({ path }) => path);
  const { allow, within = [] } = policy.filesystem;
  return {
    ...policy,
    filesystem: { allow: [...allow, ...named], within: within.map((list) => list.concat(named)) },
    env: { ...policy.env, vouched: [...(policy.env.vouched ?? []), ...Object.keys(env)] },
  };
}

function allowedPaths({ read = [], write = [] }: Allowed, workspace?: string): FilesystemRule[] {
  const rules = new Map<string, FilesystemRule>();
  for (const path of read.map((one) => declaredPath(one, workspace)))
    rules.set(path, { path, access: 'read' });
  for (const path of write.map((one) => declaredPath(one, workspace)))
    rules.set(path, { path, access: 'read-write' });
  return [...rules.values()];
}

/** As a manifest has to name it: what lies in the workspace is named by the workspace. */
function declaredPath(given: string, workspace: string | undefined): string {
  const path = given.startsWith(WORKSPACE) ? given : inWorkspace(resolve(given), workspace);
  const problem = filesystemPathProblem(path);
  if (problem === undefined) return path;
  throw new SkillError('usage', `Cannot allow a path: ${problem}`, { fix: 'Name a folder or a file.' });
}

function inWorkspace(path: string, workspace: string | undefined): string {
  const root = workspace === undefined ? undefined : resolve(workspace);
  const isInside = root !== undefined && (path === root || path.startsWith(`${root}/`));
  return isInside ? WORKSPACE + path.slice(root.length) : path;
}

function allowedEnv({ env = [], secrets = [] }: Allowed): Record<string, EnvRule> {
  return Object.fromEntries([
    ...env.map((name) => [name, { required: true, secret: false, hosts: [] }] as const),
    ...secrets.map((name) => [name, { required: true, secret: true, hosts: [] }] as const),
  ]);
}
