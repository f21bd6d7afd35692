/**
 * One call, top-down: a method per stage, in the order of the folders. A stage runs only after all earlier stages passed,
 * and an exception from any of them becomes the outcome.
 *
 * @module
 */
import { isIP } from 'node:net';
import { relative } from 'node:path';
import { digestLazily } from './audit/digests.ts';
import type { EndedCall, Receipts } from './audit/receipts.ts';
import { isPublicAddress } from './broker/gateway/addresses.ts';
import { resolveSecrets, type ResolvedSecrets } from './broker/secrets/resolve.ts';
import { scrubberFor, scrubOutcome, type Scrub } from './broker/secrets/scrub.ts';
import type { SecretProvider } from './broker/secrets/providers.ts';
import type { LiveCall } from './calls/live-call.ts';
import type { CellParts, CellReport } from './cell/contract.ts';
import type { CellWay } from './cell/machine.ts';
import type { Pool } from './cell/pool/pool.ts';
import { describeFailure, describeOutcome, identity, type CallFacts } from './cell/verdict/describe.ts';
import { throwIfCancelled } from './cell/verdict/judge.ts';
import type { Situation } from './cell/verdict/situation.ts';
import { SkillError } from './errors.ts';
import type { Bundle } from './load/bundle.ts';
import type { Skill } from './load/skill.ts';
import type { Offload } from './offload/offload.ts';
import type { Outcome } from './outcome.ts';
import { GivenParams } from './params/given-params.ts';
import type { Command, GivenCommand } from './policy/commands/command.ts';
import { assertRunnable } from './policy/commands/of-call.ts';
import type { Gatekeeper } from './policy/gatekeeper.ts';
import type { Grant } from './policy/grant.ts';
import type { OperatorPolicy } from './policy/operator.ts';
import type { Plan, Planned } from './policy/plan.ts';
import { optionsOfTenant, type TenantContext } from './policy/tenant-context.ts';
import { changedFiles, takeSnapshot } from './results/changed-files.ts';
import { settle, withLarge, type SettleContext, type Settled } from './results/settle.ts';
import type { CallRequest, ExecuteOptions } from './runtime-options.ts';
import { traceHeaders } from './telemetry/telemetry.ts';
import { attenuate } from './tree/attenuate.ts';
import type { CallTree } from './tree/call-tree.ts';
import { CallsOfCall } from './tree/calls-of-call.ts';
import type { GuardAnswer, GuardRule } from './trust/guard.ts';
import { namesOf } from './trust/skill-rules.ts';

/** The services that the stages use, shared by all calls of a runtime. */
export interface Stages {
  readonly policy: OperatorPolicy;
  /** The tenant that all this was decided for. */
  readonly tenant?: TenantContext;
  readonly gatekeeper: Gatekeeper;
  readonly pool: Pool;
  readonly receipts: Receipts;
  readonly offload: Offload;
  load(ref: string): Promise<Skill>;
  pin(skill: Skill): Promise<Skill>;
  /** How a person permits more to a folder without a manifest. */
  overlay(bundle: Bundle): Situation['overlay'];
  plan(skill: Skill, options: ExecuteOptions, command?: GivenCommand): Promise<Planned<CellWay>>;
  secretProviders(): SecretProvider[];
  /** The same, without what is approved after this time. */
  asOf(time: string): Stages;
  /** Begins a tree of calls, for its first call. */
  openTree(request: CallRequest, caller: string): CallTree;
}

export class Call {
  readonly #stagesNow: () => Stages;
  /** Under one policy from the call's turn to its end. */
  #stages: Stages;
  readonly #live: LiveCall;
  readonly #request: CallRequest;
  readonly #facts: CallFacts;
  readonly #given: GivenParams;
  #tenant: string | undefined;
  #secrets: ReadonlyMap<string, string> = new Map();
  /** Its own secrets, and those of the calls above it. */
  #hidden: ReadonlyMap<string, string>;
  #scrub: Scrub;
  #tree: CallTree | undefined;
  #digests: EndedCall['digests'];
  #decision: GuardAnswer | undefined;

  constructor(stagesNow: () => Stages, live: LiveCall, request: CallRequest) {
    this.#stagesNow = stagesNow;
    this.#stages = stagesNow();
    this.#live = live;
    this.#request = request;
    this.#facts = { id: live.id, ref: live.ref };
    this.#tree = request.above?.tree;
    this.#hidden = request.above?.secrets ?? new Map();
    this.#scrub = scrubberFor(this.#hidden);
    const { offload } = this.#stages;
    const rules = (): readonly GuardRule[] => this.#stages.policy.guard ?? [];
    this.#given = new GivenParams(request.params, { offload, rules, owner: live.ref, signal: live.signal });
  }

  async run(): Promise<EndedCall> {
    try {
      return await this.#live.untilFault(() => this.#succeed());
    } catch (thrown) {
      return await this.#fail(thrown);
    }
  }

  /** Stages wait here and nowhere else: an asynchronous method per stage made short calls measurably slower. */
  async #succeed(): Promise<EndedCall> {
    this.#takeTurn(await this.#request.options.turn);
    const skill = await this.#stages.pin(await this.#find());
    this.#facts.skill = skill;
    assertRunnable(skill.bundle, this.#request.options.kind);
    await this.#stages.gatekeeper.admit(skill.bundle, this.#isInner);
    await this.#given.check(skill, this.#tenant);
    let planned: Planned<CellWay>;
    try {
      planned = await this.#stages.plan(skill, this.#request.options, this.#given.command);
    } finally {
      // A terminal sends Ctrl-C to the programs that probe the machine too, so what they say means nothing then.
      throwIfCancelled(this.#live.signal);
    }
    const plan = await this.#withinTree(skill, planned.plan);
    this.#facts.plan = plan;
    planned.prepared.acceptsParams?.(this.#given.bytes, plan.grant);
    this.#decision = await this.#guard(skill, plan.grant);
    const grant = this.#protect(await secretsOf(skill, plan.grant, this.#stages));
    const params = await this.#given.forReceipt(this.#scrub, this.#hidden);
    this.#recordStart(params, grant);
    // Only a command reports the files that it changed.
    const before = planned.command && (await takeSnapshot(grant));
    this.#facts.report = await this.#runInCell(partsOf(planned, grant, this.#stages), planned.command);
    const files = before && (await changedFiles(before, grant));
    return this.#describe(await this.#settle(this.#facts.report, { skill, grant, files }), params);
  }

  /** A call inside another waits for no person. */
  get #isInner(): boolean {
    return this.#request.above !== undefined;
  }

  /** A call inside another gets no more than it would have got when the first call began. */
  async #withinTree(skill: Skill, plan: Plan): Promise<Plan> {
    const { above, program } = this.#request;
    if (program) return { ...plan, uses: { ...plan.uses, generated: program.digest } };
    return above ? { ...plan, grant: attenuate(plan.grant, await above.tree.ceiling(skill)) } : plan;
  }

  #takeTurn(turn: { readonly tenant?: string } | undefined): void {
    this.#tenant = turn?.tenant ?? this.#request.above?.tenant;
    throwIfCancelled(this.#live.signal);
    // The policy may have changed while the call waited.
    const stages = this.#stagesNow();
    const { above } = this.#request;
    this.#stages = above ? stages.asOf(above.tree.began) : stages;
    if (this.#request.program && this.#stages.policy.generatedCode === false) throw programsOff();
  }

  #find(): Skill | Promise<Skill> {
    const { ref, options } = this.#request;
    const { load = (name) => this.#stages.load(name) } = options;
    return typeof ref === 'string' ? load(ref) : ref;
  }

  #guard({ bundle }: Skill, grant: Grant): Promise<GuardAnswer | undefined> {
    const { forCell, holding } = this.#given;
    const proposed = { params: forCell, holding, grant, caller: this.#live.caller };
    return this.#stages.gatekeeper.guard(bundle, proposed, this.#isInner);
  }

  /** Keeps the secrets out of everything that follows; returns the grant with their shapes. */
  #protect({ grant, values }: ResolvedSecrets): Grant {
    if (this.#facts.plan) this.#facts.plan = { ...this.#facts.plan, grant };
    this.#secrets = values;
    this.#hidden = withSecrets(this.#hidden, values);
    this.#scrub = scrubberFor(this.#hidden);
    return grant;
  }

  /** From here on, the receipt names the skill and the digests even if the host is killed. */
  #recordStart(params: EndedCall['params'], grant: Grant): void {
    this.#digests = digestLazily(params, grant, (digests) =>
      this.#stages.receipts.recordStart(this.#live, this.#facts, digests),
    );
  }

  async #runInCell(parts: CellParts, command: Command | undefined): Promise<CellReport> {
    const { signal, failed } = this.#live;
    const { pool, policy } = this.#stages;
    this.#live.isCommand = command !== undefined;
    if (this.#facts.plan) this.#live.started(() => identity(this.#facts), this.#facts.plan.choice.candidate);
    const inner = this.#openInner(parts);
    const running = pool.run(parts, {
      params: this.#given.forCell,
      signal,
      failed,
      secrets: this.#secrets,
      headers: policy.network.traceContext ? traceHeaders() : undefined,
      onLog: this.#live.logListener(this.#hidden.size > 0),
      command: command && { start: command.start, args: command.args },
      depth: this.#live.lineage?.depth,
      tree: this.#live.lineage?.root,
      onTurn: this.#assertBudget(),
      inner,
    });
    return inner ? this.#untilSettled(running, inner) : running;
  }

  /** A call inside another waited for its turn, and others may have used up the budget meanwhile. */
  #assertBudget(): (() => void) | undefined {
    const { above } = this.#request;
    return above && (() => above.tree.budget.assertLeft());
  }

  /** Undefined if the call may make none. */
  #openInner({ grant: { skills }, artifact }: CellParts): CallsOfCall | undefined {
    const { above, program } = this.#request;
    const { manifest } = artifact.bundle;
    const patterns = program?.skills ?? skills;
    if (!patterns) return undefined;
    this.#tree ??= this.#stages.openTree(this.#request, this.#live.caller);
    return new CallsOfCall({
      ...{ tree: this.#tree, patterns, parent: this.#live, tenant: this.#tenant },
      secrets: this.#hidden,
      policy: this.#stages.policy,
      manifest,
      names: program ? [] : namesOf(artifact.bundle),
      functions: program?.functions,
      ...(above ? { sources: above.sources } : {}),
    });
  }

  /** Calls that it did not wait for are cancelled by then; its outcome lists them too. */
  async #untilSettled(running: Promise<CellReport>, inner: CallsOfCall): Promise<CellReport> {
    try {
      return await running;
    } finally {
      await inner.settled();
      this.#request.above?.onSources(inner.sources);
    }
  }

  #settle(report: CellReport, call: Pick<SettleContext, 'skill' | 'grant' | 'files'>): Promise<Settled> {
    const { signal } = this.#live;
    const { offload } = this.#stages;
    const situation = this.#situation(call.skill);
    return settle(report, {
      ...{ ...call, situation, offload, signal },
      secrets: this.#hidden,
      tenant: this.#tenant,
    });
  }

  #situation({ bundle }: Skill): Situation {
    const { options } = this.#request;
    const { timeout, memory } = options;
    const overlay = this.#stages.overlay(bundle);
    return {
      ...(overlay ? { overlay } : {}),
      isProgram: this.#request.program !== undefined,
      // Only errors name it, and most calls succeed.
      get dir(): string {
        return fromHere(bundle.sourceDir);
      },
      isLocked: bundle.lock === 'locked',
      manifest: bundle.manifest,
      policy: this.#stages.policy,
      mode: this.#facts.plan?.choice.candidate.mode ?? 'subprocess',
      hasWorkspace: optionsOfTenant(options, this.#stages.tenant).workspace !== undefined,
      lowered: { timeout, memory },
      isPublicAddress: (address) => isIP(address) === 0 || isPublicAddress(address),
    };
  }

  #describe(settled: Settled, params: EndedCall['params']): EndedCall {
    const outcome = scrubOutcome({ ...describeOutcome(this.#facts, settled), ...this.#below() }, this.#scrub);
    return { ...this.#endedCall(params), ...withLarge(outcome, settled) };
  }

  async #fail(thrown: unknown): Promise<EndedCall> {
    // A cause is not scrubbed, so a call with secrets keeps none.
    if (this.#hidden.size === 0) this.#live.cause = thrown instanceof SkillError ? thrown.cause : thrown;
    const outcome = { ...describeFailure(this.#facts, thrown), ...this.#below() };
    const params = await this.#given.forReceipt(this.#scrub, this.#hidden);
    return { ...this.#endedCall(params), outcome: scrubOutcome(outcome, this.#scrub) };
  }

  /** The first call of a tree lists those below it. */
  #below(): Pick<Outcome, 'children' | 'children_cut' | 'flows'> {
    return (!this.#isInner && this.#tree?.summary) || {};
  }

  #endedCall(params: EndedCall['params']): Omit<EndedCall, 'outcome'> {
    return { ...this.#facts, params, digests: this.#digests, decision: this.#decision };
  }
}

function programsOff(): SkillError {
  return new SkillError(
    'capability_denied',
    'The operator policy switches generated code off, and programs with it',
    {
      fix: 'Call the skills one by one, or have the operator remove "generated_code: false" from the policy.',
    },
  );
}

/** Two calls of a tree may hold different values under one name. */
function withSecrets(
  above: ReadonlyMap<string, string>,
  own: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  if (above.size === 0 || own.size === 0) return above.size === 0 ? own : above;
  const others = [...above].map(([name, value]): [string, string] =>
    own.has(name) && own.get(name) !== value ? [`${name} of a calling skill`, value] : [name, value],
  );
  return new Map([...others, ...own]);
}

/** Relative to the working directory if it is inside, as a person would write it. */
function fromHere(dir: string): string {
  const path = relative(process.cwd(), dir);
  return path === '' || path.startsWith('..') ? dir : path;
}

/** Looks up the values for each call, because they can change and are not stored. */
export function secretsOf(
  { bundle }: Skill,
  grant: Grant,
  { secretProviders }: Pick<Stages, 'secretProviders'>,
): Promise<ResolvedSecrets> {
  return resolveSecrets(grant, secretProviders(), { skill: bundle.manifest.name });
}

/** The parts that the cell of a planned call is built from. */
export function partsOf(
  { way, prepared }: Planned<CellWay>,
  grant: Grant,
  { tenant }: Pick<Stages, 'tenant'>,
): CellParts {
  const owner = tenant ? { owner: tenant.name } : {};
  return { wall: way.wall, engine: way.engine, artifact: prepared, grant, ...owner };
}
