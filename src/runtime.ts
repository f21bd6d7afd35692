/**
 * The facade of Skillcell. The stages of a call are in `call.ts`.
 *
 * @module
 */
import { resolve } from 'node:path';
import { createCallIds } from './audit/call-id.ts';
import type { AuditLog } from './audit/log.ts';
import { Receipts } from './audit/receipts.ts';
import { authorityOf } from './broker/authority.ts';
import { Calls } from './calls/calls.ts';
import type { CallEventName, CallListener, RunningCall } from './calls/events.ts';
import { Machine, type PairReport } from './cell/machine.ts';
import { partsOf, secretsOf } from './call.ts';
import { CallMaker } from './make-call.ts';
import { choose, type Plan } from './policy/plan.ts';
import { optionsOfTenant, tenantOf, type TenantContext } from './policy/tenant-context.ts';
import { Pool } from './cell/pool/pool.ts';
import { defaultHome } from './load/home.ts';
import type { Bundle } from './load/bundle.ts';
import type { Installation, InstallOptions } from './load/install-skill.ts';
import { loadBundle, type BundleLocation, type LoadDeps, type LoadOptions } from './load/load-bundle.ts';
import { registriesOf, type SkillPlaces } from './load/locate.ts';
import { compileSkill, withManifest, withOptionalEnv, type Skill } from './load/skill.ts';
import { createStore } from './load/store.ts';
import type { FileLock } from './load/file-lock.ts';
import { enterHome } from './load/presence.ts';
import { pruneHome, type Pruned, type PruneOptions } from './load/prune.ts';
import { writeLock, type WrittenLock } from './load/write-lock.ts';
import { uninstallSkill, type Uninstalled } from './load/uninstall.ts';
import type { Manifest } from './manifest/manifest.ts';
import type { Outcome, Success } from './outcome.ts';
import { Overlays } from './overlays.ts';
import { Offload, type OffloadCounts } from './offload/offload.ts';
import type { ModeChoice } from './policy/choose-mode.ts';
import { explainGrant, type ExplainedCapability } from './policy/explain-grant.ts';
import { underPolicy } from './policy/enforce-or-refuse.ts';
import { DEFAULT_POLICY, type OperatorPolicy } from './policy/operator.ts';
import { Programs, type Program, type ProgramOptions } from './programs/programs.ts';
import { SourceGate } from './source-gate.ts';
import { StagesInForce } from './stages.ts';
import { assertOwnEnv, placesOf } from './runtime-options.ts';
import type { ExecOptions, ExecuteOptions, QuietExec, QuietExecute } from './runtime-options.ts';
import type { RecordOptions, RuntimeOptions } from './runtime-options.ts';
import type { CommandSuccess } from './results/command-result.ts';
import { readMessage, type MessageOptions, type ReadMessage } from './params/read-message.ts';
import { Telemetry } from './telemetry/telemetry.ts';
import type { ToolFormat } from './tools/formats.ts';
import { offerTools } from './tools/offer.ts';
import { assertOffer, resolveOffer, selectOffered } from './tools/offered.ts';
import type { ToolSet } from './tools/tool-set.ts';
import type { Approvals } from './trust/approvals.ts';
import { listSkills, locateSkill } from './trust/origin.ts';
import type { Standing } from './trust/standing.ts';
import { observationManifest, type Allowed } from './record/observation.ts';
import type { Recording } from './record/recording.ts';

export type { ExecOptions, ExecuteOptions, RecordOptions, RuntimeOptions } from './runtime-options.ts';

/** Loads and runs skills; made by `createRuntime`. */
export class Runtime implements AsyncDisposable {
  readonly home: string;
  /** Overlays and packages of Agent Skills folders. */
  readonly overlays: Overlays;
  /** What skills from elsewhere are held to. */
  readonly sources: SourceGate;
  readonly #options: RuntimeOptions;
  readonly #places: SkillPlaces;
  readonly #machine: Machine;
  readonly #pool: Pool;
  readonly #loadDeps: LoadDeps;
  readonly #stages: StagesInForce;
  readonly #calls = new Calls();
  readonly #maker: CallMaker;
  readonly #programs: Programs;
  /** What a recorded call may do, by the manifest it runs with. */
  readonly #observed = new WeakMap<Manifest, Allowed>();
  readonly #receipts: Receipts;
  /** Tells `prune` that this process uses the home. */
  #presence: FileLock | undefined;
  /** Worker threads for large or hostile input. */
  readonly #offload = new Offload();

  constructor(options: RuntimeOptions = {}) {
    assertOwnEnv(options);
    const home = resolve(options.home ?? defaultHome());
    this.home = home;
    this.#places = placesOf(options, home);
    this.#options = { ...options, offer: resolveOffer(options.offer, this.#places.cwd) };
    const { policy = DEFAULT_POLICY } = options;
    const { jail, container, onProgress } = options;
    this.#machine = new Machine({
      ...{ home, container, onProgress },
      ...(jail ? { jail } : {}),
      python: () => this.policy.pythonWasm,
      offload: this.#offload,
    });
    this.#receipts = new Receipts(home, options.audit, this.#offload);
    this.#pool = new Pool(home, authorityOf({ ...options.network, home }), options.pool);
    this.#loadDeps = this.#machine.loadDeps(createStore({ home, groupId: Machine.cellGroup(jail) }));
    this.#maker = new CallMaker({
      ...{ calls: this.#calls, receipts: this.#receipts, telemetry: new Telemetry() },
      ...{ nextId: createCallIds(), caller: options.caller ?? 'library' },
      stages: (tenant) => this.#stages.current(tenant),
      list: () => this.list(),
      places: () => ({ home, registries: this.registries }),
    });
    this.#programs = new Programs({
      offload: this.#offload,
      list: () => this.list(),
      read: async (location) => compileSkill(await this.#read(location), this.#offload),
    });
    this.overlays = new Overlays(this.#places, this.#machine, (bundle) => this.approvals.has(bundle));
    this.#stages = new StagesInForce({
      ...{ options: this.#options, places: this.#places, machine: this.#machine, pool: this.#pool },
      ...{ receipts: this.#receipts, offload: this.#offload, overlays: this.overlays },
      policy: typeof policy === 'function' ? policy : () => policy,
      load: (ref) => this.load(ref),
      openTree: (stages, request, caller) => this.#maker.openTree(stages, request, caller),
      observed: this.#observed,
    });
    this.sources = new SourceGate(
      this.#places,
      () => this.policy,
      (location) => this.#read(location),
    );
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
  execute(ref: string | Skill, params: unknown, options: QuietExecute): Promise<Outcome>;
  execute(ref: string | Skill, params: unknown, options?: ExecuteOptions): Promise<Success>;
  execute(ref: string | Skill, params: unknown, options: ExecuteOptions = {}): Promise<Outcome> {
    return this.#maker.make({ ref, params, options });
  }

  /** Runs a program that calls skills: it and each skill that it calls get a cell, a grant and a receipt of their own. */
  program(program: Program, input: unknown, options: ProgramOptions & { reject: false }): Promise<Outcome>;
  program(program: Program, input?: unknown, options?: ProgramOptions): Promise<Success>;
  async program(program: Program, input?: unknown, options: ProgramOptions = {}): Promise<Outcome> {
    return this.#maker.make(await this.#programs.request(program, input, options));
  }

  /** Runs a command of a skill of scripts: `['python', 'scripts/x.py', 'a']`. Any exit code is a result. */
  exec(ref: string | Skill, command: readonly string[], options: QuietExec): Promise<Outcome>;
  exec(ref: string | Skill, command: readonly string[], options?: ExecOptions): Promise<CommandSuccess>;
  exec(ref: string | Skill, command: readonly string[], options: ExecOptions = {}): Promise<Outcome> {
    const { stdin, ...rest } = options;
    return this.execute(
      ref,
      { command, ...(stdin === undefined ? {} : { stdin }) },
      { ...rest, kind: 'script' },
    );
  }

  /** Like `execute`, but refuses every mode weaker than an OS jail. */
  executeIsolated(ref: string | Skill, params: unknown, options: QuietExecute): Promise<Outcome>;
  executeIsolated(ref: string | Skill, params: unknown, options?: ExecuteOptions): Promise<Success>;
  executeIsolated(ref: string | Skill, params: unknown, options: ExecuteOptions = {}): Promise<Outcome> {
    return this.execute(ref, params, { ...options, isolated: true });
  }

  /** Runs one call with only what the caller allows, and derives the manifest from what the skill uses and asks for. */
  async record(ref: string, params: unknown, options: RecordOptions = {}): Promise<Recording> {
    const { allow = {}, ...rest } = options;
    const skill = await this.load(ref, { toleratesDrift: true });
    const manifest = observationManifest(skill.bundle.manifest, allow, { ...options, ...this.#places });
    const observed = withManifest(skill, manifest);
    this.#observed.set(manifest, allow);
    // A mode without isolation denies nothing, so it would record nothing.
    const outcome = await this.execute(observed, params, { ...rest, isolated: true, reject: false });
    return this.overlays.recording(skill.bundle, { outcome, allowed: manifest }, params);
  }

  /** Reads, verifies and inspects a skill without running it. */
  async load(ref: string, options: LoadOptions = {}): Promise<Skill> {
    const found = locateSkill(ref, this.#places);
    const location = options.id === undefined ? found : { ...found, ids: [options.id] };
    // Every call needs the probes, which take as long as reading the skill, so both run in parallel.
    this.#machine.pairs().catch(() => 'the call probes again and gets the error');
    const bundle = await this.#read(location, { overlays: this.#places, ...options });
    return this.pin(await compileSkill(bundle, this.#offload));
  }

  /** Adds the image and packages that a call would use now, and its overlay if it counts; approvals cover these. */
  pin(skill: Skill): Promise<Skill> {
    return this.overlays.settle(skill);
  }

  /** What a call would be allowed to do, in which mode, and why. Runs nothing. */
  async plan(skill: Skill, options: ExecuteOptions = {}): Promise<Plan> {
    const stages = this.#stages.current(tenantOf(options.tenant));
    return (await stages.plan(await stages.pin(skill), options)).plan;
  }

  /** Only the mode, which is faster than a whole plan. */
  async choose(skill: Skill, options: ExecuteOptions = {}): Promise<ModeChoice> {
    const tenant = tenantOf(options.tenant);
    const pinned = await this.#stages.current(tenant).pin(skill);
    return choose(this.#stages.planInput(pinned, options, tenant));
  }

  /** The approvals of this machine. */
  get approvals(): Approvals {
    return this.#stages.approvals();
  }

  /** The approvals of a tenant, which count only for its calls. */
  approvalsOf(tenant: TenantContext): Approvals {
    return this.#stages.approvals(tenant);
  }

  /** The policy in force. */
  get policy(): OperatorPolicy {
    return this.#stages.current().policy;
  }

  /** The operator's view of a skill: rule, approval, signature, profile. */
  async standing(skill: Skill, tenant?: TenantContext): Promise<Standing> {
    const stages = this.#stages.current(tenant);
    return stages.gatekeeper.standing((await stages.pin(skill)).bundle);
  }

  /** Throws unless the policy, its signature or an approval lets this bundle be called. */
  async admit(bundle: Bundle, tenant?: TenantContext): Promise<void> {
    await this.#stages.current(tenant).gatekeeper.admit(bundle);
  }

  /** For every capability: declared, policy, approval, granted. */
  async explain(skill: Skill, options: ExecuteOptions = {}): Promise<ExplainedCapability[]> {
    const plan = await this.plan(withOptionalEnv(skill), options);
    const tenant = tenantOf(options.tenant);
    const { policy } = this.#stages.current(tenant);
    const manifest = this.overlays.manifestOf(skill, optionsOfTenant(options, tenant));
    return explainGrant({ manifest, plan, policy, standing: await this.standing(skill, tenant) });
  }

  /** Starts cells before the first call. Throws if a call would be refused, because a cell may run the skill's code. */
  async warm(loaded: Skill, options: ExecuteOptions = {}): Promise<void> {
    const stages = this.#stages.current(tenantOf(options.tenant));
    const skill = await stages.pin(loaded);
    await stages.gatekeeper.admit(skill.bundle);
    const planned = await stages.plan(skill, options);
    const { grant } = await secretsOf(skill, planned.plan.grant, stages);
    await this.#pool.warm(partsOf(planned, grant, stages));
  }

  /** Skills as tools for a model provider: the named ones, or all offered ones that can be tools. */
  async tools<Format extends ToolFormat>(
    format: Format,
    skills?: readonly (string | Skill)[],
  ): Promise<ToolSet<Format>> {
    return offerTools(format, this, skills);
  }

  /** All known skills: of the project, installed, and bundled. */
  list(): BundleLocation[] {
    return listSkills(this.#places);
  }

  /** The skills that agents and clients get to see, by the option `offer`. */
  offered(known: BundleLocation[] = this.list()): BundleLocation[] {
    return selectOffered(known, this.#options.offer);
  }

  /** Throws `usage` if a pattern of the option `offer` matches no skill. */
  assertOffer(): void {
    if (this.#options.offer?.skills) assertOffer(this.list(), this.#options.offer);
  }

  /** The folders that `list` searches; some may not exist. */
  get registries(): string[] {
    return registriesOf(this.#places);
  }

  /** Writes `skill.lock` beside the manifest and returns its path. */
  async lock(ref: string): Promise<string> {
    return (await this.writeLock(ref)).file;
  }

  /** Like `lock`, and says what changed among the packages that the lock pins. */
  writeLock(ref: string): Promise<WrittenLock> {
    return writeLock(locateSkill(ref, this.#places), this.#loadDeps);
  }

  /**
   * Fetches the requirements of a skill. A skill from outside the project is also copied into the store of installed
   * skills; one of the project stays in its place, and its lock pins the packages.
   */
  async install(ref: string, options: InstallOptions = {}): Promise<Skill & { installation: Installation }> {
    const skill = await this.load(ref);
    const { bundle, installation } = await this.overlays.install(skill, options);
    if (bundle.kind === 'script') return { ...(await this.load(ref)), installation };
    return { ...(await this.pin({ ...skill, bundle })), installation };
  }

  /** Removes an installed skill: its id, with an optional `@version`. */
  uninstall(ref: string): Uninstalled {
    return uninstallSkill(this.home, ref);
  }

  /** Removes from the home what no running process and no known skill uses. */
  async prune(options: PruneOptions = {}): Promise<Pruned> {
    const startedAt = Date.now();
    const own = (this.#presence ??= enterHome(this.home));
    // Loading a skill marks what it uses. A skill that does not load uses nothing.
    for (const { dir } of this.list()) await this.load(dir).catch(() => undefined);
    return pruneHome({ ...options, home: this.home, own, startedAt });
  }

  /** What this machine can run, and who enforces what. */
  async doctor(): Promise<PairReport[]> {
    const pairs = await this.#machine.report();
    for (const pair of pairs) pair.enforces = underPolicy(pair.enforces, this.policy);
    return pairs;
  }

  /** Calls in progress, oldest first. */
  get running(): RunningCall[] {
    return this.#calls.running;
  }

  /** Listens to all calls made from now on. The returned function removes the listener. */
  on<Name extends CallEventName>(name: Name, listener: CallListener<Name>): () => void {
    return this.#calls.on(name, listener);
  }

  /** Parses a large client message in a worker thread. The value at `path` stays text that `execute` accepts. */
  readMessage(bytes: Uint8Array, options: MessageOptions): Promise<ReadMessage> {
    return readMessage(bytes, options, this.#offload);
  }

  /** Counts of the work on large or hostile input that worker threads did. */
  get offloaded(): OffloadCounts {
    return this.#offload.counts;
  }

  /** Throws `skill_unavailable` while calls are refused because receipts cannot be written. */
  assertReceipts(): void {
    this.#receipts.assertWritable();
  }

  /** The log of receipts. */
  get audit(): AuditLog {
    return this.#receipts.log;
  }

  async close(): Promise<void> {
    this.#pool.close();
    const cells = this.#machine.close();
    try {
      // While the cells end, because it waits for the disk. If calls are cut off here, the last of them closes the log.
      this.#receipts.close();
    } finally {
      await cells;
      await this.#offload.close();
    }
    this.#presence?.remove();
    this.#presence = undefined;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #read(location: BundleLocation, options?: LoadOptions): Promise<Bundle> {
    this.#presence ??= enterHome(this.home);
    return loadBundle(location, this.#loadDeps, options);
  }
}

/** Opens a runtime. Close it with `await using` or `close()`. */
export function createRuntime(options: RuntimeOptions = {}): Runtime {
  return new Runtime(options);
}
