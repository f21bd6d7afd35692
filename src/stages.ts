/**
 * Everything about a call that depends on the policy in force and on its tenant. Each pair of them has its own stages, so
 * that nothing that was decided for one tenant can be used for another.
 *
 * @module
 */
import { secretProviders } from './broker/secrets/sources.ts';
import type { CellWay, Machine } from './cell/machine.ts';
import type { Stages } from './call.ts';
import type { SkillPlaces } from './load/locate.ts';
import type { Skill } from './load/skill.ts';
import { tenantHome, tenantsDir } from './load/tenant-home.ts';
import type { Manifest } from './manifest/manifest.ts';
import type { Overlays } from './overlays.ts';
import { Gatekeeper } from './policy/gatekeeper.ts';
import type { OperatorPolicy } from './policy/operator.ts';
import type { PlanInput, PlanOptions } from './policy/plan.ts';
import { PlanCache } from './policy/plan-cache.ts';
import { optionsOfTenant, policyOfTenant, type TenantContext } from './policy/tenant-context.ts';
import { observedInput, type Allowed } from './record/observation.ts';
import type { CallRequest, RuntimeOptions } from './runtime-options.ts';
import type { CallTree } from './tree/call-tree.ts';
import { Approvals } from './trust/approvals.ts';

/** The parts of a runtime that all tenants share. */
export interface SharedParts extends Pick<Stages, 'pool' | 'receipts' | 'offload' | 'load'> {
  options: RuntimeOptions;
  policy: () => OperatorPolicy;
  places: SkillPlaces;
  machine: Machine;
  overlays: Overlays;
  /** Begins a tree of calls under these stages. */
  openTree: (stages: Stages, request: CallRequest, caller: string) => CallTree;
  /** What a recorded call may do, by the manifest it runs with. */
  observed: WeakMap<Manifest, Allowed>;
}

/** The approvals that count for the calls of a tenant. */
export function approvalsOfTenant(home: string, name: string): Approvals {
  return new Approvals(tenantHome(home, name));
}

export class StagesInForce {
  readonly #shared: SharedParts;
  readonly #approvals: Approvals;
  #own: Stages;
  /** By the object, which is replaced when the tenant's settings change. */
  #tenants = new WeakMap<TenantContext, Stages>();

  constructor(shared: SharedParts) {
    this.#shared = shared;
    this.#approvals = new Approvals(shared.places.home);
    this.#own = this.#under(shared.policy());
  }

  /** The stages of a call that starts now. */
  current(tenant?: TenantContext): Stages {
    const policy = this.#shared.policy();
    if (policy !== this.#own.policy) {
      this.#own = this.#under(policy);
      this.#tenants = new WeakMap();
    }
    return tenant ? this.#ofTenant(tenant) : this.#own;
  }

  /** What planning needs to know about a call. */
  planInput(skill: Skill, options: PlanOptions, tenant?: TenantContext): PlanInput<CellWay> {
    return this.#input(skill, options, this.current(tenant));
  }

  approvals(tenant?: TenantContext): Approvals {
    return tenant ? approvalsOfTenant(this.#shared.places.home, tenant.name) : this.#approvals;
  }

  #ofTenant(tenant: TenantContext): Stages {
    const known = this.#tenants.get(tenant);
    if (known) return known;
    const stages = this.#under(policyOfTenant(this.#own.policy, tenant), tenant);
    this.#tenants.set(tenant, stages);
    return stages;
  }

  #under(policy: OperatorPolicy, tenant?: TenantContext): Stages {
    const { options, places, overlays, pool, receipts, offload, load, openTree } = this.#shared;
    const { guard } = options;
    const approvals = this.approvals(tenant);
    // Nobody can be asked about the call of a tenant.
    const askPerson = tenant ? undefined : options.askPerson;
    const plans = new PlanCache<CellWay>();
    const uploads = tenantsDir(places.home);
    const withGatekeeper = (gatekeeper: Gatekeeper): Stages => {
      const stages: Stages = {
        policy,
        ...(tenant ? { tenant } : {}),
        gatekeeper,
        ...{ pool, receipts, offload, load },
        pin: (skill) => overlays.settle(skill, (bundle) => gatekeeper.approvals.has(bundle)),
        overlay: (bundle) => (tenant ? undefined : overlays.toEdit(bundle)),
        plan: (skill, given, command) => plans.plan({ ...this.#input(skill, given, stages), command }),
        secretProviders: () => this.#secretProviders(policy, tenant),
        // A plan that is cached depends on no approval.
        asOf: (time) => withGatekeeper(gatekeeper.asOf(time)),
        openTree: (request, caller) => openTree(stages, request, caller),
      };
      return stages;
    };
    return withGatekeeper(new Gatekeeper({ policy, places, guard, askPerson, approvals, uploads }));
  }

  #secretProviders(policy: OperatorPolicy, tenant?: TenantContext): ReturnType<Stages['secretProviders']> {
    const { secrets: own, env = process.env } = this.#shared.options;
    // Sources of the embedding program belong to the operator.
    if (tenant) return secretProviders({ sources: policy.secrets, env: {} });
    return secretProviders({ own, sources: policy.secrets, env });
  }

  #input(skill: Skill, given: PlanOptions, { policy, gatekeeper, tenant }: Stages): PlanInput<CellWay> {
    const { machine, options, places, observed } = this.#shared;
    return {
      skill,
      options: optionsOfTenant(given, tenant),
      machine,
      env: tenant ? tenant.env : (options.env ?? process.env),
      allowEnv: tenant && options.allowEnv === 'all' ? [] : options.allowEnv,
      ...observedInput(policy, skill.bundle.manifest, observed),
      cwd: places.cwd,
      isApproved: () => gatekeeper.approvals.has(skill.bundle),
      ...(tenant ? { foreign: tenant.foreign } : {}),
    };
  }
}
