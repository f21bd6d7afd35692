/**
 * Enforce or refuse: a field that the manifest, the operator or the caller sets and that cannot be enforced on this
 * machine prevents the load.
 *
 * @module
 */
import { SkillError } from '../errors.ts';
import type { EnvRule, Manifest, NetworkRule } from '../manifest/manifest.ts';
import { CAPABILITY_FIELDS, type CapabilityField, type EnforcedField } from '../vocabulary/capabilities.ts';
import { DECLARED_LIMITS, SHARED_LIMITS } from '../vocabulary/limits.ts';
import type { EnforcementTable } from './enforcement.ts';
import type { GrantedLimits } from './grant.ts';
import { DEFAULT_POLICY, type OperatorPolicy } from './operator.ts';
import { hostCovers } from './patterns.ts';

export interface EnforceableInput {
  manifest: Manifest;
  policy?: OperatorPolicy;
  /** Limits that the caller lowers. */
  lowered?: readonly (keyof GrantedLimits)[];
  table: EnforcementTable;
  /** Wall and engine as shown to people, e.g. `jail + python`. */
  pair: string;
}

/** Throws `unenforceable` if a field is set that this pair does not enforce. */
export function assertEnforceable({ manifest, policy, lowered = [], table, pair }: EnforceableInput): void {
  const byOperator = policy ? fieldsSetByPolicy(policy) : [];
  const set = new Set([...fieldsSetByManifest(manifest), ...byOperator, ...lowered]);
  for (const field of sharedByProcesses(manifest, set)) set.add(field);
  const unenforced = [...set].filter((field) => table[field].by === 'nobody');
  if (unenforced.length === 0) return;
  const names = unenforced.map((field) => `"${field}"`).join(', ');
  throw new SkillError('unenforceable', `Cannot enforce ${names} in the cell "${pair}" on this machine`, {
    fix: unenforced.map((field) => `${field}: ${table[field].how}`).join('; '),
    detail: { pair, fields: unenforced },
  });
}

/** A limit on the total of all processes needs different enforcement than a limit per process. */
export function sharedByProcesses({ limits }: Manifest, set: ReadonlySet<EnforcedField>): EnforcedField[] {
  if ((limits.processes ?? 0) === 0) return [];
  return SHARED_LIMITS.filter((limit) => set.has(limit)).map((limit) => `${limit}.processes` as const);
}

/** Methods, paths and WebSocket upgrades of https are visible only inside TLS. */
function isAboutRequestsInTls({ scheme = 'https', methods, paths }: NetworkRule): boolean {
  return scheme === 'wss' || (scheme === 'https' && (methods !== undefined || paths !== undefined));
}

/** A secret can only be inserted into TLS traffic that is opened. */
function isForTls({ secret, hosts }: EnvRule, rules: NetworkRule[]): boolean {
  const inTls = rules.filter(({ scheme = 'https' }) => scheme === 'https' || scheme === 'wss');
  return (
    secret &&
    hosts.some((host) => inTls.some((rule) => hostCovers(rule.host, host) || hostCovers(host, rule.host)))
  );
}

/** The enforcement table under the operator's policy: only the operator may have TLS opened. */
export function underPolicy(table: EnforcementTable, policy: OperatorPolicy): EnforcementTable {
  const isOpened = policy.network.inspectTls === true && table.network.by === 'broker';
  if (!isOpened || table['network.inside_tls'].by !== 'nobody') return table;
  return {
    ...table,
    'network.inside_tls': {
      by: 'broker',
      how: 'the gateway terminates TLS with certificates that only the cell trusts, and reads each request',
    },
  };
}

/** An operator who restricts grants by a list relies on their enforcement. */
function fieldsSetByPolicy({ ceilingsSet, filesystem, network, env }: OperatorPolicy): EnforcedField[] {
  return [
    ...ceilingsSet,
    ...(filesystem === DEFAULT_POLICY.filesystem ? [] : (['filesystem'] as const)),
    ...(network.allow ? (['network'] as const) : []),
    ...(env.allow ? (['env'] as const) : []),
  ];
}

/** The fields that this manifest sets. Defaults do not count, because the manifest does not promise them. */
export function fieldsSetByManifest({ capabilities, env, limits }: Manifest): EnforcedField[] {
  const rules = Object.values(env);
  const set: Record<CapabilityField, boolean> = {
    filesystem: capabilities.filesystem.length > 0,
    'filesystem.max_bytes': capabilities.filesystem.some((rule) => rule.maxBytes !== undefined),
    network: capabilities.network.length > 0,
    'network.websocket': capabilities.network.some(({ scheme }) => scheme === 'ws' || scheme === 'wss'),
    'network.inside_tls':
      capabilities.network.some(isAboutRequestsInTls) ||
      rules.some((rule) => isForTls(rule, capabilities.network)),
    env: rules.some((rule) => !rule.secret),
    'env.secret': rules.some((rule) => rule.secret),
    syscalls: capabilities.syscalls !== 'default',
    programs: (capabilities.programs ?? []).length > 0,
    skills: (capabilities.skills ?? []).length > 0,
  };
  const declaredLimits = DECLARED_LIMITS.filter((name) => limits[name] !== undefined);
  return [...CAPABILITY_FIELDS.filter((field) => set[field]), ...declaredLimits];
}
