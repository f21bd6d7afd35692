/**
 * The whole of Skillcell, top-down. A call goes through the stages in the order of the folders:
 *
 *     ref ─▶ manifest/ ─▶ load/ ─▶ trust/ ─▶ policy/ ─▶ cell/ ─▶ audit/ ─▶ outcome
 *
 * Nothing runs before the stages in front of it agreed, and every call ends in an outcome and a receipt.
 *
 * @module
 */
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createCallIds } from './audit/call-id.ts';
import type { AuditLog } from './audit/log.ts';
import { digestMeanwhile } from './audit/digests.ts';
import { Receipts, type EndedCall } from './audit/receipts.ts';
import { authorityOf } from './broker/authority.ts';
import { resolveSecrets, type ResolvedSecrets } from './broker/secrets/resolve.ts';
import { scrubberFor, scrubOutcome, type Scrub } from './broker/secrets/scrub.ts';
import { secretProviders } from './broker/secrets/sources.ts';
import { Calls } from './calls/calls.ts';
import type { CallEventName, CallListener, RunningCall } from './calls/events.ts';
import type { LiveCall } from './calls/live-call.ts';
import { throwIfCancelled } from './cell/judge.ts';
import { describeOutcome, identity, raise, type CallFacts } from './cell/describe.ts';
import { Machine, type PairReport } from './cell/machine.ts';
import { choose, type Plan, type PlanInput } from './cell/plan.ts';
import { Plans } from './cell/plans.ts';
import { Pool } from './cell/pool.ts';
import { giveBack } from './dispatch/give-back.ts';
import { SkillError } from './errors.ts';
import { ownedBy } from './fault-owner.ts';
import { defaultHome } from './load/home.ts';
import { installBundle, isToInstall, type InstallOptions } from './load/install.ts';
import {
  loadBundle,
  lockBundle,
  type BundleLocation,
  type LoadDeps,
  type LoadOptions,
} from './load/load-bundle.ts';
import { registriesOf, type SkillPlaces } from './load/locate.ts';
import { compileSkill, withoutDemands, type Skill } from './load/skill.ts';
import { createStore } from './load/store.ts';
import type { Manifest } from './manifest/manifest.ts';
import type { Outcome, Success } from './outcome.ts';
import { Offload, type OffloadCounts } from './offload/offload.ts';
import { packageRoot } from './package-root.ts';
import type { ModeChoice } from './policy/choose-mode.ts';
import { filesOf } from './policy/combine.ts';
import { explainGrant, type ExplainedCapability } from './policy/explain-grant.ts';
import { underPolicy } from './policy/enforce-or-refuse.ts';
import { Gatekeeper } from './policy/gatekeeper.ts';
import { DEFAULT_POLICY, type OperatorPolicy } from './policy/operator.ts';
import { assertOwnEnv } from './runtime-options.ts';
import type { Asked, ExecuteOptions, RecordOptions, RuntimeOptions } from './runtime-options.ts';
import { GivenParams } from './params/given-params.ts';
import { readMessage, type MessageOptions, type ReadMessage } from './params/read-message.ts';
import { Telemetry, traceHeaders } from './telemetry/telemetry.ts';
import type { ToolFormat } from './tools/formats.ts';
import { offerTools } from './tools/offer.ts';
import type { ToolSet } from './tools/tool-set.ts';
import type { Approvals } from './trust/approvals.ts';
import type { GuardAnswer } from './trust/guard.ts';
import { listSkills, locateSkill } from './trust/origin.ts';
import type { Standing } from './trust/standing.ts';
import { observationManifest, observing, type Allowed } from './record/observation.ts';
import { makeRecording, type Recording } from './record/recording.ts';
import { settle, withLarge } from './results/settle.ts';

export type { ExecuteOptions, RecordOptions, RuntimeOptions } from './runtime-options.ts';

export class Runtime implements AsyncDisposable {
  readonly home: string;
  readonly #options: RuntimeOptions;
  readonly #policy: OperatorPolicy;
  readonly #places: SkillPlaces;
  readonly #gatekeeper: Gatekeeper;
  readonly #machine: Machine;
  readonly #pool: Pool;
  readonly #loadDeps: LoadDeps;
  readonly #nextCallId = createCallIds();
  readonly #calls = new Calls();
  readonly #telemetry = new Telemetry();
  readonly #plans = new Plans();
  /** By the manifests of skills that are called while their needs are recorded: what may happen meanwhile. */
  readonly #observed = new WeakMap<Manifest, Allowed>();
  readonly #receipts: Receipts;
  /** Where large and hostile input is worked on. */
  readonly #offload = new Offload();

  constructor(options: RuntimeOptions = {}) {
    assertOwnEnv(options);
    const home = resolve(options.home ?? defaultHome());
    this.home = home;
    this.#options = options;
    this.#policy = options.policy ?? DEFAULT_POLICY;
    this.#places = {
      bundledDir: join(packageRoot(), 'skills'),
      home,
      cwd: resolve(options.cwd ?? process.cwd()),
    };
    const { guard, askPerson, jail, container, onProgress } = options;
    this.#gatekeeper = new Gatekeeper({ policy: this.#policy, places: this.#places, guard, askPerson });
    const store = createStore({ home, groupId: Machine.cellGroup(jail) });
    this.#machine = new Machine({
      ...{ home, container, onProgress },
      ...(jail ? { jail } : {}),
      python: this.#policy.pythonWasm,
      offload: this.#offload,
    });
    this.#receipts = new Receipts(home, options.audit, this.#offload);
    this.#pool = new Pool(authorityOf({ ...options.network, home }), options.pool);
    this.#loadDeps = {
      store,
      offload: this.#offload,
      inspect: (...bundle) => this.#machine.inspect(...bundle),
      imageToPin: (bundle) => this.#machine.imageToPin(bundle),
    };
  }

  /**
   * Runs one call of a skill in a fresh cell. Throws a SkillError when it fails, unless `reject` is false.
   *
   * @example
   * ```ts
   * import { createRuntime } from 'skillcell';
   *
   * await using runtime = createRuntime();
   * const { result } = await runtime.execute('text/word_stats', { text: 'To be' }, { timeout: 1000 });
   * ```
   */
  execute(
    ref: string | Skill,
    params: unknown,
    options: ExecuteOptions & { reject: false },
  ): Promise<Outcome>;
  execute(ref: string | Skill, params: unknown, options?: ExecuteOptions): Promise<Success>;
  async execute(ref: string | Skill, params: unknown, options: ExecuteOptions = {}): Promise<Outcome> {
    const call = this.#open(ref, options);
    try {
      const attempt = (): Promise<EndedCall> => this.#attempt(call, ref, { params, options });
      const outcome = await ownedBy(call, () =>
        this.#receipts.around(call, () => this.#telemetry.around(call, options.trace, attempt)),
      );
      if (outcome.ok || options.reject === false) return outcome;
      throw SkillError.fromOutcome(outcome);
    } finally {
      giveBack(options.turn);
      call.leave();
    }
  }

  /** `execute` that refuses every mode weaker than an OS jail. */
  executeIsolated(
    ref: string | Skill,
    params: unknown,
    options: ExecuteOptions & { reject: false },
  ): Promise<Outcome>;
  executeIsolated(ref: string | Skill, params: unknown, options?: ExecuteOptions): Promise<Success>;
  executeIsolated(ref: string | Skill, params: unknown, options: ExecuteOptions = {}): Promise<Outcome> {
    return this.execute(ref, params, { ...options, isolated: true });
  }

  /**
   * Runs one call with nothing granted but what the caller allows, notes everything that the skill uses and asks for,
   * and says which manifest it needs.
   */
  async record(ref: string, params: unknown, options: RecordOptions = {}): Promise<Recording> {
    const { allow = {}, ...rest } = options;
    const skill = await this.#load(ref, { toleratesDrift: true });
    const { bundle } = skill;
    const manifest = observationManifest(bundle.manifest, allow, options.workspace);
    const observed: Skill = { ...skill, bundle: { ...bundle, manifest } };
    this.#observed.set(manifest, allow);
    // Where nothing is denied, nothing can be recorded.
    const outcome = await this.execute(observed, params, { ...rest, isolated: true, reject: false });
    return makeRecording(bundle, { outcome, allowed: manifest });
  }

  /** Reads, verifies and inspects a skill; nothing of it runs. */
  load(ref: string): Promise<Skill> {
    return this.#load(ref, {});
  }

  async #load(ref: string, options: LoadOptions): Promise<Skill> {
    const location = locateSkill(ref, this.#places);
    // Needed for every call; trying the wall takes as long as reading the skill.
    this.#machine.pairs().catch(() => 'whoever needs them asks again and gets the error');
    return this.pin(await compileSkill(await loadBundle(location, this.#loadDeps, options), this.#offload));
  }

  /** A loaded skill with the image and packages that a call would use now, which is what people approve. */
  pin(skill: Skill): Promise<Skill> {
    return this.#machine.pin(skill);
  }

  /** What a call would be allowed to do, in which mode, and why; nothing runs. */
  async plan(skill: Skill, options: ExecuteOptions = {}): Promise<Plan> {
    return this.#plans.plan(this.#planInput(await this.pin(skill), options));
  }

  /** The mode alone, which is quick to know. */
  async choose(skill: Skill, options: ExecuteOptions = {}): Promise<ModeChoice> {
    return choose(this.#planInput(await this.pin(skill), options));
  }

  /** What people approved. */
  get approvals(): Approvals {
    return this.#gatekeeper.approvals;
  }

  /** The policy files in force, outermost first; none for the built-in defaults. */
  get policyFiles(): string[] {
    return filesOf(this.#policy);
  }

  /** How a skill stands with the operator: rule, approval, signature, profile. */
  async standing(skill: Skill): Promise<Standing> {
    return this.#gatekeeper.standing((await this.pin(skill)).bundle);
  }

  /** For every capability: declared, policy, approval, granted. */
  async explain(skill: Skill, options: ExecuteOptions = {}): Promise<ExplainedCapability[]> {
    const [{ manifest }, { grant }] = [skill.bundle, await this.plan(withoutDemands(skill), options)];
    return explainGrant({ manifest, grant, policy: this.#policy, standing: await this.standing(skill) });
  }

  /** Starts cells ahead of the first call. */
  async warm(loaded: Skill, options: ExecuteOptions = {}): Promise<void> {
    const skill = await this.pin(loaded);
    const plan = await this.plan(skill, options);
    const { grant } = await this.#resolveSecrets(skill, plan);
    await this.#pool.warm({ ...plan, grant });
  }

  /** Skills as tools of a model's provider: the named ones, or all that can be. */
  tools<Format extends ToolFormat>(
    format: Format,
    skills?: readonly (string | Skill)[],
  ): Promise<ToolSet<Format>> {
    return offerTools(format, { list: () => this.list(), load: (ref) => this.load(ref) }, skills);
  }

  list(): BundleLocation[] {
    return listSkills(this.#places);
  }

  /** The folders that `list` looks into; any of them may not exist. */
  get registries(): string[] {
    return registriesOf(this.#places);
  }

  /** Writes `skill.lock` beside the manifest and returns its path. */
  async lock(ref: string): Promise<string> {
    const location = locateSkill(ref, this.#places);
    const file = join(location.dir, 'skill.lock');
    writeFileSync(file, await lockBundle(location, this.#loadDeps));
    return file;
  }

  /** Copies a skill into the store of installed skills and fetches its requirements. */
  async install(ref: string, options: InstallOptions = {}): Promise<Skill> {
    const skill = await this.load(ref);
    isToInstall(this.home, skill.bundle, options);
    await this.#machine.installRequirements(skill.bundle);
    const hindrance = await this.#machine.installImage(skill.bundle);
    if (hindrance !== undefined) skill.bundle.warnings.push(hindrance);
    installBundle(this.home, skill.bundle, options);
    return this.pin(skill);
  }

  /** What this machine can run, and who enforces what. */
  async doctor(): Promise<PairReport[]> {
    const pairs = await this.#machine.report();
    for (const pair of pairs) pair.enforces = underPolicy(pair.enforces, this.#policy);
    return pairs;
  }

  /** Calls that have been made and have not ended, oldest first. */
  get running(): RunningCall[] {
    return this.#calls.running;
  }

  /** Listens to all calls that are made from now on. The returned function ends it. */
  on<Name extends CallEventName>(name: Name, listener: CallListener<Name>): () => void {
    return this.#calls.on(name, listener);
  }

  /** Parses a large message of a client in a worker thread; what is at `path` in it stays text, to be executed with. */
  readMessage(bytes: Uint8Array, options: MessageOptions): Promise<ReadMessage> {
    return readMessage(bytes, options, this.#offload);
  }

  /** What worker threads have done: all work on large input that a stranger decides on. */
  get offloaded(): OffloadCounts {
    return this.#offload.counts;
  }

  /** Throws `skill_unavailable` while calls are refused because no receipt of them could be written. */
  assertReceipts(): void {
    this.#receipts.assertWritable();
  }

  /** The log of receipts. */
  get audit(): AuditLog {
    return this.#receipts.log;
  }

  async close(): Promise<void> {
    this.#pool.close();
    await this.#machine.close();
    await this.#offload.close();
    this.#receipts.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #planInput(skill: Skill, options: ExecuteOptions): PlanInput {
    const { env = process.env, allowEnv } = this.#options;
    const isApproved = (): boolean => this.approvals.has(skill.bundle);
    const shared = { skill, options, machine: this.#machine, env, allowEnv, isApproved };
    const { manifest } = skill.bundle;
    const observed = observing(this.#policy, manifest, this.#observed.get(manifest));
    return { ...shared, cwd: this.#places.cwd, ...observed };
  }

  #open(ref: string | Skill, options: ExecuteOptions): LiveCall {
    return this.#calls.open({
      id: this.#nextCallId(),
      ref: typeof ref === 'string' ? ref : ref.bundle.manifest.name,
      caller: options.caller ?? this.#options.caller ?? 'library',
      onEvent: options.onEvent,
      signal: options.signal,
    });
  }

  /** The stages of a call. Whatever is thrown on the way becomes its outcome. */
  async #attempt(call: LiveCall, ref: string | Skill, { params, options }: Asked): Promise<EndedCall> {
    const facts: CallFacts = { id: call.id, ref: call.ref };
    const { load = (name) => this.load(name) } = options;
    const { signal } = call;
    const { guard: rules = [] } = this.#policy;
    const given = new GivenParams(params, { offload: this.#offload, rules, owner: call.ref, signal });
    let secrets: ReadonlyMap<string, string> = new Map();
    let scrub: Scrub = (value) => value;
    let digests: EndedCall['digests'];
    let decision: GuardAnswer | undefined;
    try {
      return await call.untilFault(async () => {
        const tenant = (await options.turn)?.tenant;
        throwIfCancelled(signal);
        const skill = await this.pin(typeof ref === 'string' ? await load(ref) : ref);
        facts.skill = skill;
        await this.#gatekeeper.admit(skill.bundle);
        await given.check(skill, tenant);
        const plan = await this.#plans.plan(this.#planInput(skill, options));
        facts.plan = plan;
        const { forCell, holding } = given;
        const proposed = { params: forCell, holding, grant: plan.grant, caller: call.caller };
        decision = await this.#gatekeeper.guard(skill.bundle, proposed);
        const { grant, values } = await this.#resolveSecrets(skill, plan);
        facts.plan = { ...plan, grant };
        secrets = values;
        scrub = scrubberFor(values);
        const forReceipt = await given.forReceipt(scrub, values);
        digests = digestMeanwhile(forReceipt, grant, (made) => this.#receipts.noteBegun(call, facts, made));
        call.started(() => identity(facts), plan.choice.candidate);
        const job = { params: forCell, signal, failed: call.failed, secrets };
        const report = await this.#pool.run(facts.plan, {
          ...job,
          headers: this.#policy.network.traceContext ? traceHeaders() : undefined,
          onLog: call.logListener(values.size > 0),
        });
        facts.report = report;
        const context = { skill, grant, secrets, offload: this.#offload, tenant, signal };
        const settled = await settle(report, context);
        const described = describeOutcome(facts, () => settled);
        const outcome = scrubOutcome(described, scrub);
        return { ...facts, params: forReceipt, digests, decision, ...withLarge(outcome, settled) };
      });
    } catch (thrown) {
      const outcome = describeOutcome(facts, () => raise(thrown));
      const forReceipt = await given.forReceipt(scrub, secrets);
      return { ...facts, params: forReceipt, digests, decision, outcome: scrubOutcome(outcome, scrub) };
    }
  }

  /** Values are looked up for each call: they may change, and they are kept nowhere. */
  #resolveSecrets({ bundle }: Skill, { grant }: Plan): Promise<ResolvedSecrets> {
    const { secrets: own, env = process.env } = this.#options;
    const providers = secretProviders({ own, sources: this.#policy.secrets, env });
    return resolveSecrets(grant, providers, { skill: bundle.manifest.name });
  }
}

export function createRuntime(options: RuntimeOptions = {}): Runtime {
  return new Runtime(options);
}
