/**
 * Enforce or refuse: what the manifest, the operator or the caller sets and nobody enforces here stops the load.
 *
 * @module
 */
import { SkillError } from '../errors.ts';
import type { EnvRule, Manifest, NetworkRule } from '../manifest/manifest.ts';
import type { EnforcedField, EnforcementTable } from './enforcement.ts';
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

/** Throws `unenforceable` when a field is set that nobody enforces for this pair. */
export function assertEnforceable({ manifest, policy, lowered = [], table, pair }: EnforceableInput): void {
  const byOperator = policy ? fieldsSetByPolicy(policy) : [];
  const set = new Set([...fieldsSetByManifest(manifest), ...byOperator, ...lowered]);
  for (const field of sharedByProcesses(manifest, set)) set.add(field);
  const open = [...set].filter((field) => table[field].by === 'nobody');
  if (open.length === 0) return;
  const names = open.map((field) => `"${field}"`).join(', ');
  throw new SkillError('unenforceable', `Nobody enforces ${names} in the cell "${pair}" on this machine`, {
    fix: open.map((field) => `${field}: ${table[field].how}`).join('; '),
    detail: { pair, fields: open },
  });
}

/** A limit that all processes of a call have together is another matter than one that a single process has. */
function sharedByProcesses({ limits }: Manifest, set: ReadonlySet<EnforcedField>): EnforcedField[] {
  if ((limits.processes ?? 0) === 0) return [];
  return (['cpu', 'memory'] as const)
    .filter((limit) => set.has(limit))
    .map((limit) => `${limit}.processes` as const);
}

/** Methods and paths of https, and whether it is a WebSocket, are known only to who reads what TLS hides. */
function isAboutRequestsInTls({ scheme = 'https', methods, paths }: NetworkRule): boolean {
  return scheme === 'wss' || (scheme === 'https' && (methods !== undefined || paths !== undefined));
}

/** Where nobody reads what TLS hides, nobody can put a secret into it. */
function isForTls({ secret, hosts }: EnvRule, rules: NetworkRule[]): boolean {
  const inTls = rules.filter(({ scheme = 'https' }) => scheme === 'https' || scheme === 'wss');
  return (
    secret &&
    hosts.some((host) => inTls.some((rule) => hostCovers(rule.host, host) || hostCovers(host, rule.host)))
  );
}

/** Who enforces what once the operator has spoken: only the operator may have TLS opened. */
export function underPolicy(table: EnforcementTable, policy: OperatorPolicy): EnforcementTable {
  const isOpened = policy.network.inspectTls === true && table.network.by === 'broker';
  if (!isOpened || table['network.inside_tls'].by !== 'nobody') return table;
  return {
    ...table,
    'network.inside_tls': {
      by: 'broker',
      how: 'the gateway ends TLS with certificates that the cell alone trusts, and reads each request',
    },
  };
}

/** Whoever cuts a grant by a list relies on somebody who keeps a skill to its grant. */
function fieldsSetByPolicy({ ceilingsSet, filesystem, network, env }: OperatorPolicy): EnforcedField[] {
  return [
    ...ceilingsSet,
    ...(filesystem === DEFAULT_POLICY.filesystem ? [] : (['filesystem'] as const)),
    ...(network.allow ? (['network'] as const) : []),
    ...(env.allow ? (['env'] as const) : []),
  ];
}

/** The fields that this manifest sets. Defaults are not in it: they are ours, not a promise of the manifest. */
export function fieldsSetByManifest({ capabilities, env, limits }: Manifest): EnforcedField[] {
  const rules = Object.values(env);
  const set: Partial<Record<EnforcedField, boolean>> = {
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
  };
  const fields = Object.keys(set) as EnforcedField[];
  const declaredLimits = (Object.keys(limits) as (keyof GrantedLimits)[]).filter(
    (name) => limits[name] !== undefined,
  );
  return [...fields.filter((field) => set[field] === true), ...declaredLimits];
}
