/**
 * State that all routes share.
 *
 * @module
 */
import {
  type FaultScope,
  type BundleLocation,
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
  type Runtime,
  SkillError,
  type Tenant,
  type TenantContext,
  type Turn,
  parseDuration,
  parseSize,
  policyDigest,
  toSkillError,
} from '../inside.ts';
import { Access, type Identity } from './access.ts';
import { busyForAll } from './busy.ts';
import type { AccessLog } from './access-log.ts';
import type { TokenEntry } from './access-file.ts';
import { dispatchOptions } from './limits.ts';
import { EventStreams } from './event-streams.ts';
import { LiveCalls, WatchedCall } from './live-calls.ts';
import { Quotas } from './quotas.ts';
import { ServiceMetrics } from './service-metrics.ts';
import { Shelf } from './shelf.ts';
import { gone, Tenancy } from './tenancy.ts';
import type { TenantShelf } from './tenant-shelf.ts';

const MACHINE_MS = 60_000;
/** Cancelled calls are killed; after this long, the service no longer waits for them. */
const CANCEL_MS = 5000;

/** A part of the service that does not work, with the reason. */
export interface Hindrance {
  part: 'service' | 'access' | 'receipts' | 'cells';
  reason: string;
}

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
  /** Host names that clients may use, in addition to `localhost`. */
  hostNames?: readonly string[];
}

/** Runs calls on other machines. */
export interface Elsewhere {
  execute(
    ref: string,
    params: unknown,
    options: ExecuteOptions & { reject: false; idempotencyKey?: string | undefined },
  ): Promise<Outcome>;
  /** Why no call can run now; undefined if one can. */
  obstacle(): string | undefined;
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
    if (request.idempotencyKey !== undefined && !this.options.elsewhere) throw noKeysHere();
    const settings = this.tenancy.of(identity);
    const shelf = this.tenancy.shelfOf(settings);
    const location = shelf.locate(request.name);
    const options = this.#optionsFor(request);
    const { tenant, caller } = identity;
    const label = this.#labelOf(shelf, location);
    const folders = this.tenancy.foldersOf(settings);
    const call = new WatchedCall({ skill: request.name, tenant, caller });
    const abort = AbortSignal.any([signal, call.signal]);
    this.quotas.assertLeft(tenant);
    const entered = this.#enter({ tenant, skill: request.name, signal: abort });
    const turn = this.#whileValid(identity, entered);
    this.quotas.begin(tenant);
    const onEvent = this.live.listenerFor(call, folders);
    const running = this.#execute(location.ref, request, {
      ...options,
      // Only when it is its turn, because loading a skill is also work.
      load: () => shelf.load(location),
      // Asked when it is its turn, because the operator may have changed the tenant while the call waited.
      // A worker has its own: no workspace and no secret of a tenant leaves this machine.
      ...(settings && !this.options.elsewhere ? { tenant: () => this.#contextOf(identity) } : {}),
      caller,
      signal: abort,
      turn,
      onEvent,
      reject: false,
    });
    return { call, outcome: this.#track({ call, label, folders, settings }, running) };
  }

  #execute(
    ref: string,
    { params, idempotencyKey }: CallRequest,
    options: ExecuteOptions & { reject: false },
  ): Promise<Outcome> {
    const { elsewhere } = this.options;
    return elsewhere
      ? elsewhere.execute(ref, params, { ...options, idempotencyKey })
      : this.runtime.execute(ref, params, options);
  }

  /** Tenants must not learn how much others call, which the numbers of a full service would tell. */
  #enter(entry: DispatchEntry): Promise<Turn> {
    try {
      return this.dispatcher.enter(entry);
    } catch (error) {
      throw this.tenancy.isOn ? busyForAll(error) : error;
    }
  }

  #contextOf(identity: Identity): TenantContext {
    const settings = this.tenancy.of(identity);
    if (!settings) throw gone();
    return settings.context;
  }

  /** Tenants choose the names of their uploads, so these never become labels of metrics. */
  #labelOf(shelf: TenantShelf, location: BundleLocation): string {
    return shelf.isUpload(location) ? 'uploaded' : location.ref;
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
  async hindrances(): Promise<Hindrance[]> {
    // Returns early, because probing the walls takes time.
    if (this.#isClosing) return [{ part: 'service', reason: 'The service is shutting down' }];
    const found: Hindrance[] = [];
    if (this.access.isBroken) found.push({ part: 'access', reason: 'The access file is broken' });
    try {
      this.runtime.assertReceipts();
    } catch (thrown) {
      found.push({ part: 'receipts', reason: this.folders.error(toSkillError(thrown).toBody()).message });
    }
    const { elsewhere } = this.options;
    if (elsewhere) {
      const reason = elsewhere.obstacle();
      return reason === undefined ? found : [...found, { part: 'cells', reason }];
    }
    try {
      const pairs = await this.machine();
      if (!pairs.some(({ wall, available }) => wall !== 'none' && available))
        found.push({ part: 'cells', reason: 'No wall works on this machine' });
    } catch {
      found.push({ part: 'cells', reason: 'The walls of this machine could not be probed' });
    }
    return found;
  }

  async #track({ call, label, folders, settings }: TrackedCall, running: Promise<Outcome>): Promise<Outcome> {
    this.#ongoing.add(running);
    try {
      const outcome = folders.outcome(await running);
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

/** A header that promises something must not be ignored. */
function noKeysHere(): SkillError {
  return new SkillError('usage', 'This service runs calls on its own machine and keeps no idempotency keys', {
    fix: 'Leave out the header Idempotency-Key, or ask the operator for a service with a cluster.',
  });
}
