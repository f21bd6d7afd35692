/**
 * A worker: takes calls from the cluster, and runs them under its own policy, approvals and secrets.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import type { Msg, NatsConnection, Subscription } from '@nats-io/transport-node';
import { policyDigest } from '../audit/policy-digest.ts';
import type { TenantContext } from '../policy/tenant-context.ts';
import { packageVersion } from '../package-root.ts';
import type { Runtime } from '../runtime.ts';
import { writeFrame } from './frame.ts';
import { Marks } from './marks.ts';
import { encode, readCall, type Announcement, type CallHead, type Mark } from './messages.ts';
import { poolName, subjects, token } from './names.ts';
import { ANNOUNCE_MS, announceSubjects, announcedPairs, HELLO_SUBJECT } from './placement.ts';
import { Puller } from './puller.ts';
import { queuesOf } from './queues.ts';
import { ReceiptForwarder } from './receipts.ts';
import { RecentTenants } from './recent-tenants.ts';
import { Stores } from './stores.ts';
import { TenantFolders } from './tenant-folders.ts';
import { WorkerCall, type WorkerParts } from './worker-call.ts';
import { WorkerSkills } from './worker-skills.ts';

/** Options of a worker. */
export interface WorkerOptions {
  connection: NatsConnection;
  /** Unique in the cluster, and the same after a restart with the same home. */
  name: string;
  runtime: Runtime;
  /** Absent: `default`. */
  pool?: string;
  /** Calls at the same time. */
  slots: number;
  /** Tenants as tokens; absent: every tenant of the pool. */
  tenants?: readonly string[] | undefined;
  /** What a tenant has here, by its token; throws for an unknown one. Absent: all tenants share everything. */
  contextOf?: ((tenant: string) => TenantContext) | undefined;
  /** The folder that `${workspace}` stands for, if tenants share everything. */
  workspace?: string | undefined;
  /** False: only skills that are installed here. */
  acceptsBundles?: boolean;
  /** Receives sentences for the operator. */
  onNote?: (text: string) => void;
}

const TENANTS_MS = 2000;
/** How long a worker tries to find out whether it may begin. */
const MARK_MS = 20_000;
const ALIVE_MS = 1000;
/** In nanoseconds. */
const AGAIN_LATER = '-NAK {"delay": 1000000000}';
const RECEIPTS_MS = 5000;

/** Takes calls from a cluster, and runs them under its own policy, approvals and secrets. */
export class Worker {
  readonly #options: WorkerOptions;
  readonly #parts: WorkerParts;
  readonly #puller: Puller;
  readonly #receipts: ReceiptForwarder;
  readonly #recent = new RecentTenants();
  readonly #boot = randomBytes(8).toString('hex');
  readonly #calls = new Map<string, WorkerCall>();
  readonly #ongoing = new Set<Promise<void>>();
  readonly #subscriptions: Subscription[] = [];
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #pairs: Announcement['pairs'];
  #isDraining = false;
  /** The last attempt to find the queues failed, and the operator knows. */
  #isBlind = false;

  private constructor(options: WorkerOptions, parts: WorkerParts, pairs: Announcement['pairs']) {
    this.#options = options;
    this.#parts = parts;
    this.#pairs = pairs;
    const { connection, runtime, slots, name } = options;
    this.#puller = new Puller({
      connection,
      slots,
      pool: this.#pool,
      prefers: (tenant) => this.#recent.has(tenant),
      onCall: (message, tenant, release) => this.#own(this.#take(message, tenant).finally(release)),
    });
    this.#receipts = new ReceiptForwarder(connection, name, runtime.audit);
  }

  static async start(options: WorkerOptions): Promise<Worker> {
    const { connection, name, runtime, acceptsBundles = true, contextOf, workspace } = options;
    token(name);
    poolName(options.pool ?? 'default');
    const stores = new Stores(connection);
    const parts: WorkerParts = {
      ...{ connection, name, runtime, stores, contextOf, workspace },
      skills: new WorkerSkills({ runtime, stores, acceptsBundles }),
      marks: await Marks.open(connection, name),
      folders: new TenantFolders({ runtime, workspace, contextOf }),
    };
    const worker = new Worker(options, parts, announcedPairs(await runtime.doctor()));
    worker.#listen();
    await worker.#findTenants();
    worker.#announce();
    return worker;
  }

  get running(): number {
    return this.#calls.size;
  }

  /** Takes no more calls; running ones may finish within `waitMs`, then they are cancelled. */
  async drain(waitMs: number): Promise<void> {
    this.#isDraining = true;
    this.#announce();
    const isClosed = this.#puller.close();
    const timer = setTimeout(() => this.#calls.forEach((call) => call.cancel()), waitMs);
    await isClosed;
    await Promise.allSettled(this.#ongoing);
    clearTimeout(timer);
    for (const each of this.#timers) clearInterval(each);
    await this.#receipts.close(RECEIPTS_MS);
    for (const subscription of this.#subscriptions) subscription.unsubscribe();
  }

  get #pool(): string {
    return this.#options.pool ?? 'default';
  }

  #listen(): void {
    const { connection, name } = this.#options;
    const on = (subject: string, handle: (message: Msg) => void): void => {
      const callback = (error: Error | null, message: Msg): void => {
        if (!error) handle(message);
      };
      this.#subscriptions.push(connection.subscribe(subject, { callback }));
    };
    on(subjects.allCancels, ({ subject }) => {
      const [, , tenant = '', id = ''] = subject.split('.');
      this.#calls.get(subjects.mark(tenant, id))?.cancel();
    });
    on(subjects.alive(name), (message) => {
      const key = Buffer.from(message.data).toString('utf8');
      message.respond(this.#calls.has(key) ? '1' : '0');
    });
    on(HELLO_SUBJECT, () => this.#announce());
    this.#every(ANNOUNCE_MS, () => this.#announce());
    this.#every(TENANTS_MS, () => this.#own(this.#findTenants()));
  }

  #every(ms: number, act: () => void): void {
    this.#timers.push(setInterval(act, ms));
  }

  /** The tenants are those that have a consumer in this pool. */
  async #findTenants(): Promise<void> {
    const { connection, tenants } = this.#options;
    try {
      this.#puller.serve(await queuesOf(connection, this.#pool, tenants));
      this.#isBlind = false;
    } catch (error) {
      // The known ones stay until the servers answer again.
      if (!this.#isBlind) this.#note(`Cannot read the queues of the cluster: ${String(error)}`);
      this.#isBlind = true;
    }
  }

  #announce(): void {
    const { connection, name, runtime, slots, tenants } = this.#options;
    const announcement: Announcement = {
      ...{ v: 1, name, boot: this.#boot, pool: this.#pool, slots, pairs: this.#pairs },
      ...(tenants ? { tenants: [...tenants] } : {}),
      version: packageVersion(),
      policy: policyDigest(runtime.policy),
      running: this.#calls.size,
      isDraining: this.#isDraining,
      warm: this.#parts.skills.warm,
    };
    for (const subject of announceSubjects(this.#pool, name, tenants))
      connection.publish(subject, encode(announcement));
  }

  async #take(message: Msg, tenant: string): Promise<void> {
    const given = this.#read(message);
    if (!given) return;
    const key = subjects.mark(tenant, given.head.id);
    const known = this.#calls.get(key);
    if (known) {
      // After a restart of the server, a message can come to the worker that still runs it.
      known.message = message;
      known.working();
      return;
    }
    const call = new WorkerCall(this.#parts, { ...given, tenant, message });
    this.#calls.set(key, call);
    try {
      if (await this.#mayBegin(call)) {
        this.#recent.add(tenant);
        await call.run();
      }
    } catch (error) {
      this.#note(`A call could not be handled: ${String(error)}`);
      call.message.respond(AGAIN_LATER);
    } finally {
      this.#calls.delete(key);
    }
  }

  #read(message: Msg): { head: CallHead; body: Uint8Array } | undefined {
    try {
      return readCall(message.data);
    } catch (error) {
      this.#note(`Refused a message: ${String(error)}`);
      message.respond('+TERM');
      return undefined;
    }
  }

  /** Whoever makes the mark may begin: a second delivery or a worker that wakes up late may not. */
  async #mayBegin(call: WorkerCall): Promise<boolean> {
    const { head, tenant } = call;
    const marked = { tenant, id: head.id };
    if (Date.now() > head.beginBefore) {
      // The clock of this machine may be wrong, so another worker may try it until the server drops it.
      call.message.respond(AGAIN_LATER);
      return false;
    }
    const taken = await this.#parts.marks.take(marked, 'begun', MARK_MS);
    if (taken.isMine) return true;
    await this.#settleOther(call, taken.mark);
    return false;
  }

  async #settleOther(call: WorkerCall, mark: Mark): Promise<void> {
    const { head, tenant } = call;
    const { message } = call;
    if (mark.state === 'begun') {
      // A worker that is slow, or that the server lost sight of, is not dead: it says so itself.
      const isOther = mark.by !== this.#options.name;
      if (isOther && (await this.#isRunningAt(mark.by, subjects.mark(tenant, head.id)))) {
        message.respond(AGAIN_LATER);
        return;
      }
      const subject = subjects.reply(tenant, head.front, head.id);
      this.#options.connection.publish(subject, writeFrame({ type: 'lost', worker: mark.by }));
    }
    message.respond('+ACK');
  }

  async #isRunningAt(worker: string, key: string): Promise<boolean> {
    const { connection } = this.#options;
    const answer = await connection
      .request(subjects.alive(worker), key, { timeout: ALIVE_MS })
      .catch(() => undefined);
    return answer !== undefined && Buffer.from(answer.data).toString('utf8') === '1';
  }

  #own(work: Promise<void>): void {
    this.#ongoing.add(work);
    work
      .catch((error: unknown) => this.#note(String(error)))
      .finally(() => this.#ongoing.delete(work))
      .catch(() => undefined);
  }

  #note(text: string): void {
    this.#options.onNote?.(text);
  }
}
