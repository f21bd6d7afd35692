/**
 * State that all routes share.
 *
 * @module
 */
import {
  type CallEvent,
  type FaultScope,
  Dispatcher,
  type ExecuteOptions,
  HostFolders,
  type LiveTenants,
  type Mode,
  type DispatchEntry,
  type Outcome,
  type TenantLimits,
  type PairReport,
  type PolicyStatus,
  type ProgramLanguage,
  type ProgramLimits,
  type ProgramMode,
  type Runtime,
  SkillError,
  type Tenant,
  type TenantContext,
  type Turn,
  parseDuration,
  parseSize,
  policyDigest,
} from '../inside.ts';
import { Access, type Identity } from './access.ts';
import { busyForAll } from './busy.ts';
import { programsOff } from './programs-off.ts';
import type { AccessLog } from './access-log.ts';
import type { TokenEntry } from './access-file.ts';
import { dispatchOptions } from './limits.ts';
import { assertKeyCounts, executeIn, type Elsewhere } from './elsewhere.ts';
import { EventStreams } from './event-streams.ts';
import { hindrancesOf, type Hindrance } from './hindrances.ts';
import { LiveCalls, WatchedCall } from './live-calls.ts';
import { Quotas } from './quotas.ts';
import { ServiceMetrics } from './service-metrics.ts';
import { Shelf } from './shelf.ts';
import { gone, Tenancy } from './tenancy.ts';

const MACHINE_MS = 60_000;
/** Cancelled calls are killed; after this long, the service no longer waits for them. */
const CANCEL_MS = 5000;

/** Options of the HTTP service. */
export interface ServiceOptions {
  runtime: Runtime;
  /** Numbers of uncaught faults by what each of them ended, counted by the owner of the process. */
  faults?: Readonly<Record<FaultScope, number>>;
  /** How the policy in force relates to its files; absent if they are not followed. */
  policyStatus?: () => PolicyStatus;
  /** Receives sentences for the operator. */
  onNote?: (text: string) => void;
  accessFile: string;
  /** Gets one line per request. */
  accessLog?: AccessLog;
  /** Tokens that are valid only for this run. */
  extraTokens?: readonly TokenEntry[];
  /** The folder that `${workspace}` in manifests stands for; callers cannot choose it. */
  workspace?: string;
  maxBodyBytes?: number;
  /** Tenants that share nothing; absent: all tenants share workspace, secrets, policy and approvals. */
  tenants?: LiveTenants;
  /** Absent: calls run on this machine. */
  elsewhere?: Elsewhere;
  /** Whether callers may run programs, which call the offered skills. */
  programs?: boolean;
  /** Host names that clients may use, in addition to `localhost`. */
  hostNames?: readonly string[];
}

/** The policy in force, for operators. */
export interface PolicyView extends Pick<PolicyStatus, 'state' | 'waiting'> {
  digest: string;
}

/** A validated request of a caller. */
export interface CallRequest {
  name: string;
  params: unknown;
  timeout?: string | undefined;
  memory?: string | undefined;
  execution?: Mode | undefined;
  /** From the W3C Trace Context headers. */
  trace?: TraceHeaders | undefined;
  /** From the header `Idempotency-Key`. */
  idempotencyKey?: string | undefined;
}

/** A validated request to run a program. */
export interface ProgramRequest {
  language: ProgramLanguage;
  source: string;
  skills?: readonly string[] | undefined;
  input?: unknown;
  limits?: ProgramLimits | undefined;
  execution?: ProgramMode | undefined;
  trace?: TraceHeaders | undefined;
}

export interface TraceHeaders {
  traceparent: string;
  tracestate: string | undefined;
}

export class Service {
  readonly runtime: Runtime;
  readonly access: Access;
  readonly shelf: Shelf;
  /** Folders of this machine, which are removed from everything callers see. */
  readonly folders: HostFolders;
  readonly live: LiveCalls;
  readonly streams: EventStreams;
  readonly metrics: ServiceMetrics = new ServiceMetrics();
  readonly dispatcher: Dispatcher;
  readonly quotas: Quotas;
  readonly tenancy: Tenancy;
  /** Who made a request, for the access log. */
  readonly identities: WeakMap<Request, Identity> = new WeakMap();
  readonly options: ServiceOptions;
  readonly #ongoing = new Set<Promise<unknown>>();
  #isClosing = false;
  #machine: { report: Promise<PairReport[]>; at: number } | undefined;

  constructor(options: ServiceOptions) {
    this.options = options;
    this.runtime = options.runtime;
    const { home, registries } = options.runtime;
    this.folders = new HostFolders({ home, registries, workspace: options.workspace });
    this.live = new LiveCalls();
    this.access = new Access({
      file: options.accessFile,
      extra: options.extraTokens ?? [],
      onNote: options.onNote,
      tenants: options.tenants,
    });
    this.shelf = new Shelf(options.runtime);
    const { runtime, folders, shelf } = this;
    this.tenancy = new Tenancy({
      runtime,
      folders,
      shelf,
      tenants: options.tenants,
      access: () => this.access,
    });
    const limits = (tenant: string): TenantLimits => this.tenancy.limitsOf(tenant);
    this.streams = new EventStreams((tenant) => limits(tenant).streams);
    this.quotas = new Quotas((tenant) => limits(tenant).quota);
    const skillPerTenant = this.tenancy.isOn;
    this.dispatcher = new Dispatcher({ ...dispatchOptions(() => this.access.rules, limits), skillPerTenant });
  }

  get isClosing(): boolean {
    return this.#isClosing;
  }

  /** Throws if the call is refused; otherwise it has an id, and ends with an outcome and a receipt. */
  async start(request: CallRequest, identity: Identity, signal: AbortSignal): Promise<StartedCall> {
    assertKeyCounts(request.idempotencyKey, this.options.elsewhere);
    const settings = this.tenancy.of(identity);
    const shelf = this.tenancy.shelfOf(settings);
    const location = shelf.locate(request.name);
    const options = this.#optionsFor(request);
    const { tenant, caller } = identity;
    const label = shelf.labelOf(location);
    const folders = this.tenancy.foldersOf(settings);
    const call = new WatchedCall({ skill: request.name, tenant, caller });
    call.cancelWith(signal);
    this.quotas.assertLeft(tenant);
    const entered = this.#enter({ tenant, skill: request.name, signal: call.signal });
    const turn = this.#whileValid(identity, entered);
    this.quotas.begin(tenant);
    const onEvent = this.live.listenerFor(call, folders);
    const wanted = {
      ...{ ref: location.ref, params: request.params },
      idempotencyKey: request.idempotencyKey,
    };
    const running = executeIn(this.options, wanted, {
      ...options,
      // Only when it is its turn, because loading a skill is also work.
      load: () => shelf.load(location),
      // Asked when it is its turn, because the operator may have changed the tenant while the call waited.
      ...(settings ? { tenant: () => this.#contextOf(identity) } : {}),
      caller,
      signal: call.signal,
      turn,
      onEvent,
      reject: false,
    });
    return { call, outcome: this.#track({ call, label, folders, settings }, running) };
  }

  #enter(entry: DispatchEntry): Promise<Turn> {
    return this.#forTenant(() => this.dispatcher.enter(entry));
  }

  /** Tenants must not learn how much others call, which the numbers of a full service would tell. */
  #forTenant<T>(act: () => T): T {
    try {
      return act();
    } catch (error) {
      throw this.tenancy.isOn ? busyForAll(error) : error;
    }
  }

  #contextOf(identity: Identity): TenantContext {
    const settings = this.tenancy.of(identity);
    if (!settings) throw gone();
    return settings.context;
  }

  /** The folders that the sender of this request must not learn of. */
  foldersFor(request: Request): HostFolders {
    const identity = this.identities.get(request);
    try {
      return identity ? this.tenancy.foldersOf(this.tenancy.of(identity)) : this.folders;
    } catch {
      // The tenant is not served any more, and this is the answer that says so.
      return this.folders;
    }
  }

  /** Like `start`, for a program. It may call offered skills only; each of its calls counts for the quota of the tenant. */
  async startProgram(request: ProgramRequest, identity: Identity, signal: AbortSignal): Promise<StartedCall> {
    if (!this.options.programs) throw programsOff();
    const { language, source, input, limits, execution, trace } = request;
    const settings = this.tenancy.of(identity);
    const shelf = this.tenancy.shelfOf(settings);
    const { tenant, caller } = identity;
    const { workspace } = this.options;
    const skills = (request.skills ?? []).flatMap((pattern) => shelf.matching(pattern));
    const name = `program/${language}`;
    const folders = this.tenancy.foldersOf(settings);
    const call = new WatchedCall({ skill: name, tenant, caller });
    call.cancelWith(signal);
    this.quotas.assertLeft(tenant);
    const entered = this.#enter({ tenant, skill: name, signal: call.signal });
    const turn = this.#whileValid(identity, entered);
    this.quotas.begin(tenant);
    const onEvent = this.live.listenerFor(call, folders);
    const tracked = { call, label: name, folders, settings };
    const running = this.runtime.program({ language, source, skills }, input, {
      ...(limits ? { limits } : {}),
      ...(execution ? { execution } : {}),
      ...(trace === undefined ? {} : { trace }),
      ...(workspace === undefined ? {} : { workspace }),
      ...(settings ? { tenant: () => this.#contextOf(identity) } : {}),
      load: (ref) => shelf.load(shelf.locate(ref)),
      charge: (skill) => this.#forTenant(() => this.dispatcher.charge({ tenant, skill })),
      ...{ caller, turn, signal: call.signal },
      onEvent: (event) => (event.call.lineage ? this.#countInner(event, tracked) : onEvent(event)),
      reject: false,
    });
    return { call, outcome: this.#track(tracked, running) };
  }

  /** A program that uses up the quota of its tenant is cancelled at its next call. */
  #countInner(event: CallEvent, { call, settings }: TrackedCall): void {
    const { tenant } = call.facts;
    call.recordInner(event);
    if (event.type === 'done') {
      const { outcome } = event;
      const label = this.tenancy.shelfOf(settings).labelOfName(outcome.skill.name);
      this.metrics.recordCall(label, outcome, settings?.context.name);
      if (settings) this.tenancy.metricsOf(settings).recordCall(label, outcome);
      this.quotas.end(tenant, outcome.usage);
    }
    if (event.type !== 'accepted') return;
    try {
      this.quotas.assertLeft(tenant);
      this.quotas.begin(tenant);
    } catch {
      call.cancel();
    }
  }

  /** A token that was revoked while its call waited is refused like any other. */
  async #whileValid(identity: Identity, entered: Promise<Turn>): Promise<Turn> {
    const turn = await entered;
    if (this.access.isStillValid(identity)) return turn;
    turn[Symbol.dispose]();
    throw new SkillError('untrusted', 'The token was revoked while the call waited', {
      fix: 'Use a valid token.',
    });
  }

  /** Cached for a while, because probing the machine starts programs. */
  machine(): Promise<PairReport[]> {
    const now = performance.now();
    if (this.#machine && now - this.#machine.at < MACHINE_MS) return this.#machine.report;
    this.#machine = { report: this.runtime.doctor(), at: now };
    return this.#machine.report;
  }

  /** Loads every skill before the first request for it, one after the other. */
  async readAhead(): Promise<void> {
    for (const location of this.shelf.list()) {
      if (this.#isClosing) return;
      await this.shelf.load(location).catch(() => undefined);
    }
  }

  /** Refuses new calls; running ones may finish within `waitMs`, then they are cancelled. */
  async drain(waitMs: number): Promise<void> {
    this.#isClosing = true;
    const timer = setTimeout(() => this.live.cancelAll(), waitMs);
    const { promise: deadline, resolve: stopWaiting } = Promise.withResolvers<void>();
    // A cancelled call that does not end must not keep the service from stopping.
    const lastTimer = setTimeout(stopWaiting, waitMs + CANCEL_MS);
    await Promise.race([this.#lastCalls(), deadline]);
    this.access.close();
    clearTimeout(timer);
    clearTimeout(lastTimer);
  }

  async #lastCalls(): Promise<void> {
    await this.dispatcher.drain();
    await Promise.allSettled(this.#ongoing);
  }

  /** The policy in force, without paths of this machine. */
  policy(): PolicyView {
    const { state, waiting } = this.options.policyStatus?.() ?? { state: 'current', waiting: [] };
    return { digest: policyDigest(this.runtime.policy), state, waiting };
  }

  /** The reasons why this service cannot accept calls; empty if it is ready. */
  hindrances(): Promise<Hindrance[]> {
    return hindrancesOf(this);
  }

  async #track({ call, label, folders, settings }: TrackedCall, running: Promise<Outcome>): Promise<Outcome> {
    this.#ongoing.add(running);
    try {
      const ended = await running;
      const outcome = call.outcome ?? folders.outcome(ended);
      this.metrics.recordCall(label, outcome, settings?.context.name);
      if (settings) this.tenancy.metricsOf(settings).recordCall(label, outcome);
      this.quotas.end(call.facts.tenant, outcome.usage);
      // A call that was not accepted has sent no `done` event, and a client may be following it.
      if (!call.hasEnded) call.record({ type: 'done', outcome });
      return outcome;
    } finally {
      call.end();
      this.#ongoing.delete(running);
    }
  }

  /** Callers cannot widen a call: it is always isolated and never runs in this process. */
  #optionsFor({ timeout, memory, execution, trace }: CallRequest): ExecuteOptions {
    const { workspace } = this.options;
    return {
      isolated: true,
      ...(timeout === undefined ? {} : { timeout: parseDuration(timeout) }),
      ...(memory === undefined ? {} : { memory: parseSize(memory) }),
      ...(execution === undefined ? {} : { execution }),
      ...(trace === undefined ? {} : { trace }),
      ...(workspace === undefined ? {} : { workspace }),
    };
  }
}

interface TrackedCall {
  call: WatchedCall;
  /** The skill in metrics. */
  label: string;
  folders: HostFolders;
  settings: Tenant | undefined;
}

export interface StartedCall {
  call: WatchedCall;
  outcome: Promise<Outcome>;
}
