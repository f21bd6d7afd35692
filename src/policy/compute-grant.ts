/**
 * The grant of one call: manifest ∩ operator policy ∩ what the call asked to lower. Pure: no file, clock or
 * environment is read here, so the same inputs always give the same grant.
 *
 * @module
 */
import { SkillError } from '../errors.ts';
import type { EnvRule, FilesystemRule, Limits, Manifest, NetworkRule } from '../manifest/manifest.ts';
import type { Grant, GrantedLimits, GrantedPath, GrantedSecret, Withheld } from './grant.ts';
import { readDeclaredPath } from './guest-paths.ts';
import type { OperatorPolicy } from './operator.ts';
import { hostCovers } from './patterns.ts';
import { allowsPath } from './allows-path.ts';

const SECOND = 1000;
const MIB = 1024 * 1024;

/** What a manifest gets that does not name a limit. */
export const DEFAULT_LIMITS: GrantedLimits = {
  timeout: 30 * SECOND,
  cpu: 10 * SECOND,
  memory: 256 * MIB,
  output: MIB,
  processes: 0,
  scratch: 16 * MIB,
};

/** What the caller of one call says. It can only lower what manifest and policy allow. */
export interface CallOptions {
  timeout?: number;
  memory?: number;
  /** Absolute folder on the host that `${workspace}` stands for. */
  workspace?: string;
  /** The host's environment; only declared names are looked up in it. */
  env: Record<string, string | undefined>;
  /** Variables and secrets that somebody named for this call, or all. */
  allowEnv?: readonly string[] | 'all';
  /** How to approve the skill, for one that nobody vouches for: absent when it is bundled or approved. */
  approveCommand?: string;
}

export interface GrantInput {
  manifest: Manifest;
  policy: OperatorPolicy;
  call: CallOptions;
}

/** Computes what this call may do, and lists what was declared and is withheld. */
export function computeGrant({ manifest, policy, call }: GrantInput): Grant {
  const withheld: Withheld[] = [];
  const secrets = grantSecrets({ manifest, policy, call }, withheld);
  return {
    filesystem: grantPaths({ manifest, policy, call }, withheld),
    network: grantNetwork({ manifest, policy, call }, withheld),
    ...(policy.network.allowPrivate ? { privateAddresses: policy.network.allowPrivate } : {}),
    ...(policy.network.inspectTls ? { inspectTls: true } : {}),
    env: grantEnv({ manifest, policy, call }, withheld),
    ...(secrets.length > 0 ? { secrets } : {}),
    syscalls: manifest.capabilities.syscalls,
    limits: grantLimits(manifest.limits, policy.ceilings, call),
    withheld,
  };
}

function grantLimits(declared: Limits, ceilings: GrantedLimits, call: CallOptions): GrantedLimits {
  const lowest = (name: keyof GrantedLimits, asked = Infinity): number =>
    Math.min(declared[name] ?? DEFAULT_LIMITS[name], ceilings[name], asked);
  return {
    timeout: lowest('timeout', call.timeout),
    cpu: lowest('cpu'),
    memory: lowest('memory', call.memory),
    output: lowest('output'),
    processes: lowest('processes'),
    scratch: lowest('scratch'),
  };
}

function grantPaths(input: GrantInput, withheld: Withheld[]): GrantedPath[] {
  const granted: GrantedPath[] = [];
  const seen = new Set<string>();
  for (const rule of input.manifest.capabilities.filesystem) {
    const path = readDeclaredPath(rule);
    if (path.kind === 'bundle') continue;
    if (seen.has(path.guest)) throw declaredTwice(rule);
    seen.add(path.guest);
    const verdict = grantPath(rule, path, input);
    if ('host' in verdict) granted.push(verdict);
    else withheld.push(verdict);
  }
  // Parents before children: a wall that mounts in this order keeps the rule of the inner path.
  return granted.sort((a, b) => (a.guest < b.guest ? -1 : 1));
}

function grantPath(
  rule: FilesystemRule,
  path: Exclude<ReturnType<typeof readDeclaredPath>, { kind: 'bundle' }>,
  { policy, call }: GrantInput,
): GrantedPath | Withheld {
  if (path.kind === 'workspace' && call.workspace === undefined) {
    return withheldPath(rule, 'this call has no workspace', 'Pass --workspace DIR (library: workspace).');
  }
  const host = path.kind === 'workspace' ? joinHost(call.workspace ?? '', path.inside) : path.guest;
  const allowed = allowsPath(policy, rule.path, host);
  if (!allowed) {
    const fix = `Add "${rule.path}" to filesystem.allow in the operator policy, if the skill may have it.`;
    return withheldPath(rule, 'the operator policy does not allow this path', fix);
  }
  const size = rule.maxBytes === undefined ? {} : { maxBytes: rule.maxBytes };
  return { host, guest: path.guest, access: rule.access, ...size };
}

/** The workspace as given, without a slash at its end, and the path inside it. */
function joinHost(workspace: string, inside: string): string {
  return workspace.replace(/\/+$/, '') + inside || '/';
}

function withheldPath(rule: FilesystemRule, reason: string, fix: string): Withheld {
  return { capability: 'filesystem', declared: `${rule.access} ${rule.path}`, reason, fix };
}

function declaredTwice(rule: FilesystemRule): SkillError {
  return new SkillError('manifest_invalid', `The path "${rule.path}" is declared twice`, {
    fix: 'Keep one rule for it under capabilities.filesystem.',
    detail: { field: 'capabilities.filesystem', path: rule.path },
  });
}

function grantNetwork({ manifest, policy }: GrantInput, withheld: Withheld[]): NetworkRule[] {
  const { allow } = policy.network;
  if (allow === undefined) return manifest.capabilities.network;
  return manifest.capabilities.network.filter((rule) => {
    const covered = allow.some((pattern) => hostCovers(pattern, rule.host));
    if (!covered) {
      const reason = 'the operator policy does not allow this host';
      const fix = `Add "${rule.host}" to network.allow in the operator policy, if the skill may reach it.`;
      withheld.push({ capability: 'network', declared: rule.host, reason, fix });
    }
    return covered;
  });
}

/** Values for the cell. Secrets are not among them: their values never enter a grant. */
function grantEnv({ manifest, policy, call }: GrantInput, withheld: Withheld[]): Record<string, string> {
  const granted: [string, string][] = [];
  for (const [name, rule] of Object.entries(manifest.env)) {
    const value = Object.hasOwn(call.env, name) ? call.env[name] : undefined;
    if (rule.secret || !isAllowed(name, { rule, policy, call, withheld, isThere: value !== undefined }))
      continue;
    if (value === undefined)
      requireOptional(name, rule, { reason: 'it is not set', fix: `Set it: export ${name}=…` });
    else granted.push([name, value]);
  }
  // fromEntries defines own properties, so that no name (`__proto__`) can do anything but be a name.
  return Object.fromEntries(granted);
}

/** What may be looked up when the call comes. */
function grantSecrets({ manifest, policy, call }: GrantInput, withheld: Withheld[]): GrantedSecret[] {
  return Object.entries(manifest.env)
    .filter(([name, rule]) => rule.secret && isAllowed(name, { rule, policy, call, withheld, isThere: true }))
    .map(([name, { hosts, required }]) => ({ name, hosts, required }));
}

interface Asking {
  rule: EnvRule;
  policy: OperatorPolicy;
  call: CallOptions;
  withheld: Withheld[];
  /** Whether there is anything to withhold, as far as is known. */
  isThere: boolean;
}

function isAllowed(name: string, asking: Asking): boolean {
  const { rule, policy, call, withheld, isThere } = asking;
  if (!(policy.env.allow?.includes(name) ?? true)) {
    const reason = 'the operator policy does not allow this variable';
    const fix = `Add "${name}" to env.allow in the operator policy, if the skill may have it.`;
    requireOptional(name, rule, { reason, fix });
    withheld.push({ capability: 'env', declared: name, reason, fix });
    return false;
  }
  if (isVouchedFor(name, policy, call)) return true;
  const why = { reason: `nobody has approved it for this skill`, fix: howToAllow(name, call) };
  if (rule.required) throw unapproved(name, rule, why);
  if (isThere) withheld.push({ capability: 'env', declared: name, ...why });
  return false;
}

/** What is in the environment of the host belongs to a person: it goes only to code that somebody let have it. */
function isVouchedFor(name: string, policy: OperatorPolicy, call: CallOptions): boolean {
  const { allowEnv = [], approveCommand } = call;
  if (approveCommand === undefined || allowEnv === 'all') return true;
  return allowEnv.includes(name) || (policy.env.vouched ?? []).includes(name);
}

function howToAllow(name: string, { approveCommand }: CallOptions): string {
  return `Pass --env ${name} (library: allowEnv) for this call, or look at all that it asks for and approve it: ${approveCommand}`;
}

function unapproved(name: string, { secret }: EnvRule, why: { reason: string; fix: string }): SkillError {
  const what = secret ? 'secret' : 'variable';
  return new SkillError('approval_required', `The skill requires the ${what} "${name}", but ${why.reason}`, {
    fix: why.fix,
    detail: { variable: name },
  });
}

/** Starting a skill without what it requires would only end in an error that explains less. */
function requireOptional(name: string, rule: EnvRule, why: { reason: string; fix: string }): void {
  if (!rule.required) return;
  throw new SkillError('usage', `The skill requires the variable "${name}", but ${why.reason}`, {
    fix: why.fix,
    detail: { variable: name },
  });
}
