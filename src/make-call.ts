/**
 * Makes calls: opens one, runs it between its receipts, and ends it. Calls inside other calls come back here.
 *
 * @module
 */
import type { Receipts, EndedCall } from './audit/receipts.ts';
import { Call, type Stages } from './call.ts';
import type { Calls } from './calls/calls.ts';
import { HostFolders, type HostPlaces } from './calls/host-folders.ts';
import type { LiveCall } from './calls/live-call.ts';
import { releaseTurn } from './dispatch/release-turn.ts';
import { SkillError } from './errors.ts';
import { ownedBy } from './fault-owner.ts';
import type { BundleLocation } from './load/load-bundle.ts';
import type { Outcome } from './outcome.ts';
import { optionsOfTenant, tenantOf, type TenantContext } from './policy/tenant-context.ts';
import type { CallRequest } from './runtime-options.ts';
import type { Telemetry } from './telemetry/telemetry.ts';
import { CallTree, type InnerCall } from './tree/call-tree.ts';

export interface CallMakerOptions {
  calls: Calls;
  receipts: Receipts;
  telemetry: Telemetry;
  nextId: () => string;
  /** Under the policy in force now. */
  stages: (tenant: TenantContext | undefined) => Stages;
  /** The name of callers that give none. */
  caller: string;
  list: () => readonly BundleLocation[];
  places: () => HostPlaces;
}

export class CallMaker {
  readonly #options: CallMakerOptions;

  constructor(options: CallMakerOptions) {
    this.#options = options;
  }

  /** Throws a SkillError when the call fails, unless `reject` is false. */
  async make(request: CallRequest): Promise<Outcome> {
    const { receipts, telemetry, stages } = this.#options;
    const { options } = request;
    const call = this.#open(request);
    try {
      const attempt = (): Promise<EndedCall> =>
        new Call(() => stages(tenantOf(options.tenant)), call, request).run();
      const outcome = await ownedBy(call, () =>
        receipts.around(call, () => telemetry.around(call, options.trace, attempt)),
      );
      if (outcome.ok || options.reject === false) return outcome;
      throw SkillError.fromOutcome(outcome, call.cause);
    } finally {
      releaseTurn(options.turn);
      call.leave();
    }
  }

  /** Everything that decides about the calls below is taken from the first call, and from the policy that it has. */
  openTree(stages: Stages, { options, program }: CallRequest, caller: string): CallTree {
    const { list, places } = this.#options;
    const { allowEnv, onEvent, tenant } = options;
    const began = new Date().toISOString();
    const stagesThen = stages.asOf(began);
    const { workspace } = optionsOfTenant(options, stages.tenant);
    const forAll = {
      ...{ isolated: true, caller, reject: false },
      ...(workspace === undefined ? {} : { workspace }),
      // For an ordinary skill, it was given to that skill; a program has no variables itself.
      ...(program && allowEnv ? { allowEnv } : {}),
      ...(tenant ? { tenant } : {}),
    } as const;
    const tree: CallTree = new CallTree({
      began,
      known: list,
      // The option of an ordinary call loads the skill of that call only.
      load: (program && options.load) ?? ((ref) => stages.load(ref)),
      make: ({ ref, params, above, signal }: InnerCall) =>
        this.make({
          ...{ ref, params, above },
          options: {
            ...{ ...forAll, signal, load: (name: string) => tree.skill(name) },
            ...(program && onEvent ? { onEvent } : {}),
          },
        }),
      grant: async (skill) => (await stagesThen.plan(await stagesThen.pin(skill), forAll)).plan.grant,
      hostFolders: () => new HostFolders({ ...places(), ...(workspace === undefined ? {} : { workspace }) }),
      limits: program?.limits,
    });
    return tree;
  }

  #open({ ref, options, above }: CallRequest): LiveCall {
    const { onEvent, onOutput, signal, caller = this.#options.caller } = options;
    const name = typeof ref === 'string' ? ref : ref.bundle.manifest.name;
    const { id = this.#options.nextId() } = options;
    const lineage = above?.lineage;
    return this.#options.calls.open({ id, ref: name, caller, onEvent, onOutput, signal, lineage });
  }
}
