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
import { openAuditLog, type AuditLog } from './audit/log.ts';
import { digestCall, digestMeanwhile, type CallDigests } from './audit/digests.ts';
import { writeReceipt } from './audit/write-receipt.ts';
import { openBroker } from './broker/broker.ts';
import { gatewayOpener } from './broker/gateway/cell-gateway.ts';
import type { EgressOptions } from './broker/gateway/egress.ts';
import type { SecretCallback, SecretProvider } from './broker/secrets/providers.ts';
import { resolveSecrets, type ResolvedSecrets } from './broker/secrets/resolve.ts';
import { scrubberFor, scrubOutcome, type Scrub } from './broker/secrets/scrub.ts';
import { secretProviders } from './broker/secrets/sources.ts';
import type { JailOptions } from './cell/jail/wall.ts';
import { describeOutcome, type CallFacts } from './cell/describe.ts';
import { judge } from './cell/judge.ts';
import { Machine, type PairReport } from './cell/machine.ts';
import { choose, planCall, type Plan, type PlanInput, type PlanOptions } from './cell/plan.ts';
import { Pool, type Authority, type PoolOptions } from './cell/pool.ts';
import { SkillError } from './errors.ts';
import { defaultHome } from './load/home.ts';
import { installBundle } from './load/install.ts';
import {
  loadBundle,
  lockBundle,
  type BundleLocation,
  type LoadDeps,
  type LoadOptions,
} from './load/load-bundle.ts';
import { namesakesOf, type SkillPlaces } from './load/locate.ts';
import { assertFits } from './load/params.ts';
import { compileSkill, type Skill } from './load/skill.ts';
import { createStore } from './load/store.ts';
import type { Outcome, Success } from './outcome.ts';
import { packageRoot } from './package-root.ts';
import type { ModeChoice } from './policy/choose-mode.ts';
import { explainGrant, type ExplainedCapability } from './policy/explain-grant.ts';
import { underPolicy } from './policy/enforce-or-refuse.ts';
import { guardCall } from './policy/guard-call.ts';
import { DEFAULT_POLICY, type OperatorPolicy } from './policy/operator.ts';
import { admit, type AskPerson, type TrustRules } from './trust/admission.ts';
import { Approvals } from './trust/approvals.ts';
import type { Guard, GuardAnswer } from './trust/guard.ts';
import { standingOf, type Standing } from './trust/standing.ts';
import { listSkills, locateSkill } from './trust/origin.ts';
import { observationManifest, observationPolicy, observedGrant, type Allowed } from './record/observation.ts';
import { makeRecording, type Recording } from './record/recording.ts';

export interface RuntimeOptions {
  /** Folder for the store, installed packages and the audit log. */
  home?: string;
  /** Where the project's own skills are looked for. */
  cwd?: string;
  policy?: OperatorPolicy;
  pool?: PoolOptions;
  jail?: JailOptions;
  /** `false` writes no receipts; `keepContent` stores params and results beside their digests. */
  audit?: false | { file?: string; keepContent?: boolean };
  /** Who calls, for the receipt. */
  caller?: string;
  /** Where values of declared variables come from. */
  env?: Record<string, string | undefined>;
  /** Where values of secrets come from, in order; absent: what the policy says, else `env`. */
  secrets?: SecretProvider | SecretCallback | (SecretProvider | SecretCallback)[];
  /** How hosts are reached: names, certificates, caps. */
  network?: EgressOptions;
  /** Gets a sentence for people when something takes more than a moment, such as preparing an engine. */
  onProgress?: (text: string) => void;
  /** Decides on every call before it is made; can only be stricter than the policy. */
  guard?: Guard;
  /** Asks the person in front of it. Only for a front end that has one: an agent must never answer here. */
  askPerson?: AskPerson;
}

export interface ExecuteOptions extends PlanOptions {
  signal?: AbortSignal;
  /** `false` returns a failed outcome instead of throwing. */
  reject?: boolean;
}

export interface RecordOptions extends Omit<ExecuteOptions, 'reject'> {
  /** What may happen in the observed call; absent: nothing. */
  allow?: Allowed;
}

export class Runtime implements AsyncDisposable {
  readonly home: string;
  /** What people approved. */
  readonly approvals: Approvals;
  readonly #options: RuntimeOptions;
  readonly #policy: OperatorPolicy;
  readonly #places: SkillPlaces;
  readonly #machine: Machine;
  readonly #pool: Pool;
  readonly #loadDeps: LoadDeps;
  readonly #nextCallId = createCallIds();
  /** Skills as they are called while their needs are recorded, with what may happen meanwhile. */
  readonly #observed = new WeakMap<Skill, Allowed>();
  #audit: AuditLog | undefined;

  constructor(options: RuntimeOptions = {}) {
    const home = resolve(options.home ?? defaultHome());
    this.home = home;
    this.approvals = new Approvals(home);
    this.#options = options;
    this.#policy = options.policy ?? DEFAULT_POLICY;
    this.#places = {
      bundledDir: join(packageRoot(), 'skills'),
      home,
      cwd: resolve(options.cwd ?? process.cwd()),
    };
    const store = createStore({ home, groupId: Machine.cellGroup(options.jail) });
    this.#machine = new Machine({
      home,
      ...(options.jail ? { jail: options.jail } : {}),
      onProgress: options.onProgress,
      python: this.#policy.pythonWasm,
    });
    this.#pool = new Pool(this.#authority(home), options.pool);
    this.#loadDeps = { store, inspect: (...bundle) => this.#machine.inspect(...bundle) };
  }

  /** Runs one call of a skill in a fresh cell. Throws a SkillError when it fails, unless `reject` is false. */
  execute(
    ref: string | Skill,
    params: unknown,
    options: ExecuteOptions & { reject: false },
  ): Promise<Outcome>;
  execute(ref: string | Skill, params: unknown, options?: ExecuteOptions): Promise<Success>;
  async execute(ref: string | Skill, params: unknown, options: ExecuteOptions = {}): Promise<Outcome> {
    const startedAt = new Date();
    const { outcome, skill, plan, scrub, digests, decision } = await this.#attempt(ref, params, options);
    writeReceipt(outcome, {
      log: this.#auditLog(),
      keepContent: this.#options.audit !== false && this.#options.audit?.keepContent === true,
      caller: this.#options.caller ?? 'library',
      startedAt,
      params: scrub(params),
      bundle: skill?.bundle,
      decision,
      digests: digests ?? (() => digestCall(scrub(params), plan?.grant)),
    });
    if (outcome.ok || options.reject === false) return outcome;
    throw SkillError.fromOutcome(outcome);
  }

  /** `execute` that refuses every mode weaker than an OS jail. */
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
    this.#observed.set(observed, allow);
    // Where nothing is denied, nothing can be recorded.
    const outcome = await this.execute(observed, params, { ...rest, isolated: true, reject: false });
    return makeRecording(bundle, outcome);
  }

  /** Reads, verifies and inspects a skill; nothing of it runs. */
  load(ref: string): Promise<Skill> {
    return this.#load(ref, {});
  }

  async #load(ref: string, options: LoadOptions): Promise<Skill> {
    const location = locateSkill(ref, this.#places);
    // Needed for every call; trying the wall takes as long as reading the skill.
    void this.#machine.pairs();
    return compileSkill(await loadBundle(location, this.#loadDeps, options));
  }

  /** What a call would be allowed to do, in which mode, and why; nothing runs. */
  plan(skill: Skill, options: ExecuteOptions = {}): Promise<Plan> {
    return planCall(this.#planInput(skill, options));
  }

  /** The mode alone, which is quick to know. */
  choose(skill: Skill, options: ExecuteOptions = {}): Promise<ModeChoice> {
    return choose(this.#planInput(skill, options));
  }

  /** The policy file in force; undefined for the built-in defaults. */
  get policyFile(): string | undefined {
    return this.#policy.file;
  }

  /** How a skill stands with the operator: rule, approval, signature, profile. */
  standing({ bundle }: Skill): Promise<Standing> {
    return standingOf(bundle, this.#trustRules(), this.approvals);
  }

  /** For every capability: declared, policy, approval, granted. */
  async explain(skill: Skill, options: ExecuteOptions = {}): Promise<ExplainedCapability[]> {
    const { grant } = await this.plan(skill, options);
    const { manifest } = skill.bundle;
    return explainGrant({ manifest, grant, policy: this.#policy, standing: await this.standing(skill) });
  }

  /** Starts cells ahead of the first call. */
  async warm(skill: Skill, options: ExecuteOptions = {}): Promise<void> {
    const plan = await this.plan(skill, options);
    const { grant } = await this.#resolveSecrets(skill, plan);
    await this.#pool.warm({ ...plan, grant });
  }

  list(): BundleLocation[] {
    return listSkills(this.#places);
  }

  /** Writes `skill.lock` beside the manifest and returns its path. */
  async lock(ref: string): Promise<string> {
    const location = locateSkill(ref, this.#places);
    const file = join(location.dir, 'skill.lock');
    writeFileSync(file, await lockBundle(location, this.#loadDeps));
    return file;
  }

  /** Copies a skill into the store of installed skills and fetches its requirements. */
  async install(ref: string): Promise<Skill> {
    const skill = await this.load(ref);
    await this.#machine.installRequirements(skill.bundle);
    installBundle(this.home, skill.bundle);
    return skill;
  }

  /** What this machine can run, and who enforces what. */
  async doctor(): Promise<PairReport[]> {
    const pairs = await this.#machine.report();
    for (const pair of pairs) pair.enforces = underPolicy(pair.enforces, this.#policy);
    return pairs;
  }

  /** The log of receipts. */
  get audit(): AuditLog {
    const log = this.#auditLog();
    if (log) return log;
    throw new SkillError('usage', 'The audit log is switched off in this runtime', {
      fix: 'Leave out audit: false.',
    });
  }

  async close(): Promise<void> {
    this.#pool.close();
    await this.#machine.close();
    this.#audit?.close();
    this.#audit = undefined;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #planInput(skill: Skill, options: ExecuteOptions): PlanInput {
    const { env = process.env } = this.#options;
    const shared = { skill, options, machine: this.#machine, env };
    const allowed = this.#observed.get(skill);
    if (!allowed) return { ...shared, policy: this.#policy };
    return {
      ...shared,
      policy: observationPolicy(this.#policy, skill.bundle.manifest),
      adjust: (grant) => observedGrant(grant, allowed, this.#policy),
    };
  }

  /** The stages of a call. Whatever is thrown on the way becomes its outcome. */
  async #attempt(ref: string | Skill, params: unknown, options: ExecuteOptions): Promise<Attempt> {
    const facts: CallFacts = {
      id: this.#nextCallId(),
      ref: typeof ref === 'string' ? ref : ref.bundle.manifest.name,
    };
    let scrub: Scrub = (value) => value;
    let digests: Attempt['digests'];
    let decision: GuardAnswer | undefined;
    try {
      const skill = typeof ref === 'string' ? await this.load(ref) : ref;
      facts.skill = skill;
      await this.#admit(skill);
      assertFits(skill, params);
      const plan = await this.plan(skill, options);
      facts.plan = plan;
      decision = await this.#guard(skill, params, plan);
      const { grant, values } = await this.#resolveSecrets(skill, plan);
      facts.plan = { ...plan, grant };
      scrub = scrubberFor(values);
      digests = digestMeanwhile(scrub(params), grant);
      const report = await this.#pool.run(facts.plan, { params, signal: options.signal, secrets: values });
      facts.report = report;
      const outcome = describeOutcome(facts, () => judge(report, grant));
      return { ...facts, scrub, digests, decision, outcome: scrubOutcome(outcome, scrub) };
    } catch (thrown) {
      const outcome = describeOutcome(facts, () => raise(thrown));
      return { ...facts, scrub, digests, decision, outcome: scrubOutcome(outcome, scrub) };
    }
  }

  /** Values are looked up for each call: they may change, and they are kept nowhere. */
  #resolveSecrets({ bundle }: Skill, { grant }: Plan): Promise<ResolvedSecrets> {
    const { secrets: own, env = process.env } = this.#options;
    const providers = secretProviders({ own, sources: this.#policy.secrets, env });
    return resolveSecrets(grant, providers, { skill: bundle.manifest.name });
  }

  /** Whether this skill may be called at all. */
  #admit({ bundle }: Skill): Promise<void> {
    const { askPerson } = this.#options;
    const namesakes = (): string[] => namesakesOf(bundle.manifest.name, bundle.sourceDir, this.#places);
    const { approvals } = this;
    return admit({ bundle, rules: this.#trustRules(), approvals, namesakes, askPerson });
  }

  #trustRules(): TrustRules {
    const { skills = [], publishers = [] } = this.#policy;
    return { skills, publishers };
  }

  /** Whether it may be called with these parameters, by this caller. */
  async #guard({ bundle }: Skill, params: unknown, { grant }: Plan): Promise<GuardAnswer | undefined> {
    const { guard: own, askPerson, caller = 'library' } = this.#options;
    const { guard: rules = [] } = this.#policy;
    if (rules.length === 0 && !own) return undefined;
    return guardCall({ bundle, params, caller, grant }, { rules, own, askPerson });
  }

  #authority(home: string): Authority {
    const { network = {} } = this.#options;
    return {
      openBroker: (grant, bundle, options) => openBroker(grant, bundle, { ...network, ...options }),
      openGateway: gatewayOpener({ ...network, home }),
    };
  }

  #auditLog(): AuditLog | undefined {
    const { audit = {} } = this.#options;
    if (audit === false) return undefined;
    this.#audit ??= openAuditLog({ file: audit.file ?? join(this.home, 'audit.db') });
    return this.#audit;
  }
}

interface Attempt extends CallFacts {
  outcome: Outcome;
  /** Takes the secrets of this call out of anything. */
  scrub: Scrub;
  /** Undefined when it did not come to a cell. */
  digests: (() => CallDigests) | undefined;
  /** What the guard said, when there is one. */
  decision: GuardAnswer | undefined;
}

function raise(thrown: unknown): never {
  throw thrown;
}

export function createRuntime(options: RuntimeOptions = {}): Runtime {
  return new Runtime(options);
}
