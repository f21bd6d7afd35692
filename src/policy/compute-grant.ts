/**
 * Computes the grant of one call: manifest ∩ operator policy ∩ the caller's lower limits. Pure: reads no file, clock or
 * environment, so that equal inputs produce equal grants.
 *
 * @module
 */
import { SkillError } from '../errors.ts';
import { UNCHECKED_ELSEWHERE } from '../load/params.ts';
import type { EnvRule, FilesystemRule, Limits, Manifest, NetworkRule } from '../manifest/manifest.ts';
import {
  NO_WORKSPACE,
  type Grant,
  type GrantedLimits,
  type GrantedPath,
  type GrantedSecret,
  type Withheld,
} from './grant.ts';
import { readDeclaredPath } from './guest-paths.ts';
import type { OperatorPolicy } from './operator.ts';
import { isLowerable, DEFAULT_LIMITS, LIMITS, type LowerableLimit } from '../vocabulary/limits.ts';
import { mapTable } from '../vocabulary/table.ts';
import { hostCovers } from './patterns.ts';
import { allowsPath } from './allows-path.ts';
import { allowInPolicy, policyChange } from './edits.ts';

/** The caller's options. They can only lower what manifest and policy allow. */
export interface CallOptions extends Partial<Record<LowerableLimit, number>> {
  /** Absolute host folder for `${workspace}`. */
  workspace?: string;
  /** The host's environment; only declared names are looked up in it. */
  env: Record<string, string | undefined>;
  /** Variables and secrets allowed for this call, or all. */
  allowEnv?: readonly string[] | 'all';
  /** The command that approves the skill; absent if the skill is bundled or approved. */
  approveCommand?: string;
}

export interface GrantInput {
  manifest: Manifest;
  policy: OperatorPolicy;
  call: CallOptions;
}

/** Computes what this call may do, and lists the declared capabilities that are withheld. */
export function computeGrant({ manifest, policy, call }: GrantInput): Grant {
  const withheld: Withheld[] = [];
  const secrets = grantSecrets({ manifest, policy, call }, withheld);
  const programs = grantPrograms({ manifest, policy, call }, withheld);
  return {
    filesystem: grantPaths({ manifest, policy, call }, withheld),
    network: grantNetwork({ manifest, policy, call }, withheld),
    ...(policy.network.allowPrivate ? { privateAddresses: policy.network.allowPrivate } : {}),
    ...(policy.network.inspectTls ? { inspectTls: true } : {}),
    env: grantEnv({ manifest, policy, call }, withheld),
    ...(secrets.length > 0 ? { secrets } : {}),
    syscalls: manifest.capabilities.syscalls,
    ...(programs.length > 0 ? { programs } : {}),
    ...(manifest.capabilities.skills ? { skills: manifest.capabilities.skills } : {}),
    limits: grantLimits(manifest.limits, policy.ceilings, call),
    withheld,
  };
}

function grantLimits(declared: Limits, ceilings: GrantedLimits, call: CallOptions): GrantedLimits {
  const lowest = (name: keyof GrantedLimits, asked = Infinity): number =>
    Math.min(declared[name] ?? DEFAULT_LIMITS[name], ceilings[name], asked);
  return mapTable(LIMITS, (name) => lowest(name, isLowerable(name) ? call[name] : undefined));
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
  // Parents before children, so that a wall that mounts in this order applies the rule of the inner path.
  return granted.sort((a, b) => (a.guest < b.guest ? -1 : 1));
}

function grantPath(
  rule: FilesystemRule,
  path: Exclude<ReturnType<typeof readDeclaredPath>, { kind: 'bundle' }>,
  { policy, call }: GrantInput,
): GrantedPath | Withheld {
  if (path.kind === 'workspace' && call.workspace === undefined) {
    return withheldPath(rule, NO_WORKSPACE, 'Pass --workspace DIR (library: workspace).');
  }
  const host = path.kind === 'workspace' ? joinHost(call.workspace ?? '', path.inside) : path.guest;
  const allowed = allowsPath(policy, rule.path, host);
  if (!allowed) {
    const edit = { before: policy.filesystem.allow, added: rule.path };
    const fix = allowIfMeant(policy, 'filesystem.allow', edit);
    return withheldPath(rule, 'the operator policy does not allow this path', fix);
  }
  const size = rule.maxBytes === undefined ? {} : { maxBytes: rule.maxBytes };
  return { host, guest: path.guest, access: rule.access, ...size };
}

/** Joins the workspace, without its trailing slash, and the path inside it. */
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
      const fix = allowIfMeant(policy, 'network.allow', { before: allow, added: rule.host });
      withheld.push({ capability: 'network', declared: rule.host, reason, fix });
    }
    return covered;
  });
}

function grantPrograms({ manifest, policy }: GrantInput, withheld: Withheld[]): string[] {
  const allow = policy.programs?.allow;
  return (manifest.capabilities.programs ?? []).filter((name) => {
    if (allow?.includes(name) ?? true) return true;
    const reason = 'the operator policy does not allow this program';
    const fix = allowIfMeant(policy, 'programs.allow', { before: allow ?? [], added: name });
    withheld.push({ capability: 'program', declared: name, reason, fix });
    return false;
  });
}

function unset({ declaresCapabilities }: Manifest): string {
  return declaresCapabilities ? 'it is not set' : `it is not set${UNCHECKED_ELSEWHERE}`;
}

/** Values for the cell, without secrets, whose values never enter a grant. */
function grantEnv({ manifest, policy, call }: GrantInput, withheld: Withheld[]): Record<string, string> {
  const granted: [string, string][] = [];
  for (const [name, rule] of Object.entries(manifest.env)) {
    const value = Object.hasOwn(call.env, name) ? call.env[name] : undefined;
    if (rule.secret || !isAllowed(name, { rule, policy, call, withheld, hasValue: value !== undefined }))
      continue;
    if (value === undefined)
      requireOptional(name, rule, { reason: unset(manifest), fix: `Set it: export ${name}=…` });
    else granted.push([name, value]);
  }
  // fromEntries defines own properties, so that a name such as `__proto__` has no special effect.
  return Object.fromEntries(granted);
}

/** The secrets that may be looked up during the call. */
function grantSecrets({ manifest, policy, call }: GrantInput, withheld: Withheld[]): GrantedSecret[] {
  return Object.entries(manifest.env)
    .filter(
      ([name, rule]) => rule.secret && isAllowed(name, { rule, policy, call, withheld, hasValue: true }),
    )
    .map(([name, { hosts, required }]) => ({ name, hosts, required }));
}

function allowIfMeant(
  policy: OperatorPolicy,
  key: string,
  edit: { before: readonly string[]; added: string },
): string {
  return `If the skill should have it: ${policyChange(policy, [allowInPolicy(policy, key, edit)])}`;
}

interface EnvRequest {
  rule: EnvRule;
  policy: OperatorPolicy;
  call: CallOptions;
  withheld: Withheld[];
  /** There is a value to withhold, as far as is known. */
  hasValue: boolean;
}

function isAllowed(name: string, request: EnvRequest): boolean {
  const { rule, policy, call, withheld, hasValue } = request;
  if (!(policy.env.allow?.includes(name) ?? true)) {
    const reason = 'the operator policy does not allow this variable';
    const fix = allowIfMeant(policy, 'env.allow', { before: policy.env.allow ?? [], added: name });
    requireOptional(name, rule, { reason, fix });
    withheld.push({ capability: 'env', declared: name, reason, fix });
    return false;
  }
  if (isVouchedFor(name, policy, call)) return true;
  const why = { reason: `it is not approved for this skill`, fix: howToAllow(name, call) };
  if (rule.required) throw unapproved(name, rule, why);
  if (hasValue) withheld.push({ capability: 'env', declared: name, ...why });
  return false;
}

/** The host's environment belongs to a person, so its values only go to approved code. */
function isVouchedFor(name: string, policy: OperatorPolicy, call: CallOptions): boolean {
  const { allowEnv = [], approveCommand } = call;
  if (approveCommand === undefined || allowEnv === 'all') return true;
  return allowEnv.includes(name) || (policy.env.vouched ?? []).includes(name);
}

function howToAllow(name: string, { approveCommand }: CallOptions): string {
  return `Pass --env ${name} (library: allowEnv) for this call, or review everything it asks for and approve it: ${approveCommand}`;
}

function unapproved(name: string, { secret }: EnvRule, why: { reason: string; fix: string }): SkillError {
  const what = secret ? 'secret' : 'variable';
  return new SkillError('approval_required', `The skill requires the ${what} "${name}", but ${why.reason}`, {
    fix: why.fix,
    detail: { variable: name },
  });
}

/** Fails early, because a skill without a required variable would fail with a less helpful error. */
function requireOptional(name: string, rule: EnvRule, why: { reason: string; fix: string }): void {
  if (!rule.required) return;
  throw new SkillError('usage', `The skill requires the variable "${name}", but ${why.reason}`, {
    fix: why.fix,
    detail: { variable: name },
  });
}
