/**
 * What is one tenant's own, as plain data, so that any machine that looks up the same name makes the same call. Nothing in
 * it can widen what the operator's policy allows.
 *
 * @module
 */
import { isSet, restrict } from './combine.ts';
import type { OperatorPolicy } from './operator.ts';
import type { SecretSource } from './secret-sources.ts';
import type { SkillGrants } from './skill-grants.ts';

/** The tenant that a call belongs to. */
export interface TenantContext {
  /** Letters, digits, `.`, `_` and `-`. */
  readonly name: string;
  /** The folder that `${workspace}` stands for. Absent: the tenant has none. */
  readonly workspace?: string | undefined;
  /** The only sources of secrets. Empty: the tenant has none. */
  readonly secrets: readonly SecretSource[];
  /** The only values of declared variables. */
  readonly env: Readonly<Record<string, string>>;
  /** Narrows the operator's policy. */
  readonly policy?: OperatorPolicy | undefined;
  /** Files and folders of the service and of other tenants, which no cell of this tenant may see. */
  readonly foreign: readonly string[];
}

/** A tenant, or a function that is asked when a call has its turn. */
export type TenantOption = TenantContext | (() => TenantContext);

/** Files and folders that this tenant must not learn of: its sources of secrets, and everything of others. */
export function hiddenFrom({ secrets, foreign }: TenantContext): string[] {
  const own = secrets.flatMap((source) =>
    typeof source === 'object' && 'file' in source ? [source.file] : [],
  );
  return [...own, ...foreign];
}

const OWN_FILES: OperatorPolicy['filesystem']['allow'] = ['${workspace}/**'];

export function tenantOf(option: TenantOption | undefined): TenantContext | undefined {
  return typeof option === 'function' ? option() : option;
}

/**
 * The policy for the calls of a tenant: never wider than the operator's. Files outside the workspace need a rule of the
 * tenant's own policy, because tenants would meet in a folder that all may use.
 */
export function policyOfTenant(operator: OperatorPolicy, { policy, secrets }: TenantContext): OperatorPolicy {
  const narrowed = policy ? restrict(operator, policy) : operator;
  const { allow, within = [] } = narrowed.filesystem;
  const hasOwnPaths = policy !== undefined && isSet(policy.filesystem);
  return {
    ...narrowed,
    filesystem: hasOwnPaths ? narrowed.filesystem : { allow, within: [...within, OWN_FILES] },
    network: withoutInspection(narrowed.network, operator.network),
    secrets: [...secrets],
  };
}

/** `restrict` adds inspection, because it is stricter for a skill; it also opens what tenants encrypt. */
function withoutInspection(
  narrowed: OperatorPolicy['network'],
  operator: OperatorPolicy['network'],
): OperatorPolicy['network'] {
  const { inspectTls: _, ...rest } = narrowed;
  return { ...rest, ...(operator.inspectTls ? { inspectTls: true } : {}) };
}

/** What a call may choose, apart from what its tenant decides. */
interface CallChoices {
  workspace?: string;
  grants?: SkillGrants | undefined;
  allowEnv?: readonly string[];
  trustRemoteCode?: boolean;
}

/** The options of a call of this tenant: the tenant decides the workspace, and nobody else adds to its grant. */
export function optionsOfTenant<Options extends CallChoices>(
  options: Options,
  tenant: TenantContext | undefined,
): Options {
  if (!tenant) return options;
  const { workspace: _, grants: __, allowEnv: ___, trustRemoteCode: ____, ...rest } = options;
  const own = tenant.workspace === undefined ? {} : { workspace: tenant.workspace };
  return { ...rest, ...own, isolated: true } as unknown as Options;
}
