/**
 * The side of a front end: `execute` as that of a runtime, on the workers of a cluster.
 *
 * @module
 */
import { hash } from 'node:crypto';
import { jetstream } from '@nats-io/jetstream';
import type { Msg, NatsConnection, Subscription } from '@nats-io/transport-node';
import { createCallIds } from '../audit/call-id.ts';
import type { CallEvent, RunningCall } from '../calls/events.ts';
import { notify } from '../calls/notify.ts';
import { releaseTurn } from '../dispatch/release-turn.ts';
import { SkillError, toSkillError } from '../errors.ts';
import { JsonText } from '../json-text.ts';
import type { Skill } from '../load/skill.ts';
import type { Outcome, SkillIdentity } from '../outcome.ts';
import { DEFAULT_LIMITS, type LimitName } from '../vocabulary/limits.ts';
import type { Place } from '../vocabulary/place.ts';
import type { Runtime } from '../runtime.ts';
import type { ExecuteOptions } from '../runtime-options.ts';
import { ClientCall, type ClientParts, type Ending } from './client-call.ts';
import { IdempotencyKeys } from './idempotency.ts';
import { Marks } from './marks.ts';
import type { Announcement, CallHead, Reply } from './messages.ts';
import { subjects, tenantToken, token } from './names.ts';
import { Fleet } from './placement.ts';
import { PublishedBundles } from './published-bundles.ts';
import { ReceiptForwarder } from './receipts.ts';
import { Stores } from './stores.ts';

/** Options of a front end of a cluster. */
export interface ClusterClientOptions {
  connection: NatsConnection;
  /** Unique in the cluster, and the same after a restart with the same home. */
  name: string;
  /** Reads skills, and writes the receipts of calls that never reached a worker. */
  runtime: Runtime;
  /** In this order, the pools that may run calls; absent: `default`. */
  pools?: readonly string[];
  /** How long a call may wait for a worker. */
  waitMs?: number;
}

/** Options of one call in a cluster. Workspace, grants and secrets are the worker's. */
export interface ClusterExecuteOptions extends ExecuteOptions {
  /** Absent: the tenant of the turn, or `default`. */
  tenantName?: string;
  /** A repeated request with the same key and the same parameters gets the outcome of the first. */
  idempotencyKey?: string | undefined;
}

const WAIT_MS = 30_000;
const RECEIPTS_MS = 5000;
const PREPARE_MS = 10 * 60_000;

/** What a request asks a cluster to do, once it has its turn and its skill. */
interface Asked {
  id: string;
  skill: Skill;
  params: Uint8Array;
  tenant: string;
  options: ClusterExecuteOptions;
  isRepeated: boolean;
}

/** The side of a front end: `execute` as that of a runtime, on the workers of a cluster. */
export class ClusterClient implements AsyncDisposable {
  readonly #options: ClusterClientOptions;
  readonly #parts: ClientParts;
  readonly #fleet: Fleet;
  readonly #keys: IdempotencyKeys;
  readonly #receipts: ReceiptForwarder;
  readonly #replies: Subscription;
  readonly #nextId = createCallIds();
  readonly #waiting = new Map<string, ClientCall>();
  readonly #bundles: PublishedBundles;

  private constructor(options: ClusterClientOptions, parts: ClientParts, keys: IdempotencyKeys) {
    this.#options = options;
    this.#parts = parts;
    this.#bundles = new PublishedBundles(parts.stores);
    this.#keys = keys;
    const { connection, name, runtime } = options;
    this.#fleet = new Fleet(connection);
    this.#receipts = new ReceiptForwarder(connection, name, runtime.audit);
    const callback = (error: Error | null, message: Msg): void => {
      if (!error) this.#hear(message);
    };
    this.#replies = connection.subscribe(subjects.repliesTo(name), { callback });
  }

  static async open(options: ClusterClientOptions): Promise<ClusterClient> {
    const { connection, name, runtime } = options;
    token(name);
    const marks = await Marks.open(connection, name);
    const stream = jetstream(connection);
    const parts = { connection, stream, runtime, marks, stores: new Stores(connection) };
    return new ClusterClient(options, parts, await IdempotencyKeys.open(connection, marks));
  }

  /** The workers that announce themselves. */
  get workers(): Announcement[] {
    return this.#fleet.workers;
  }

  /** Like `execute` of a runtime. Throws a SkillError when the call fails, unless `reject` is false. */
  async execute(ref: string | Skill, params: unknown, options: ClusterExecuteOptions = {}): Promise<Outcome> {
    try {
      assertOnlyAsks(options);
      const outcome = await this.#attempt(ref, params, options);
      if (outcome.ok || options.reject === false) return outcome;
      throw SkillError.fromOutcome(outcome);
    } finally {
      releaseTurn(options.turn);
    }
  }

  /** Stops listening. Calls that wait are not ended: their workers go on. */
  async close(): Promise<void> {
    await this.#receipts.close(RECEIPTS_MS);
    this.#fleet.close();
    this.#replies.unsubscribe();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #attempt(ref: string | Skill, params: unknown, options: ClusterExecuteOptions): Promise<Outcome> {
    const id = options.id ?? this.#nextId();
    let asked: Asked;
    let pool: string;
    try {
      const turn = await options.turn;
      const tenant = tenantToken(options.tenantName ?? turn?.tenant ?? 'default');
      const skill = typeof ref === 'string' ? await this.#load(ref, options) : ref;
      asked = { id, skill, params: bytesOf(params), tenant, options, isRepeated: false };
      const { pools = ['default'] } = this.#options;
      pool = await this.#fleet.place(pools, { skill, execution: options.execution, tenant });
      await this.#bundles.publish(tenant, skill.bundle);
    } catch (thrown) {
      return this.#endHere(ref, id, { options, error: toSkillError(thrown) });
    }
    const { idempotencyKey } = options;
    if (idempotencyKey === undefined) return this.#run(asked, pool);
    try {
      return await this.#runOnce(asked, pool, idempotencyKey);
    } catch (thrown) {
      return this.#endHere(asked.skill, id, { options, error: toSkillError(thrown) });
    }
  }

  /** The call of the first request with this key. Only a skill that says so may run again after a lost worker. */
  async #runOnce(asked: Asked, pool: string, idempotencyKey: string): Promise<Outcome> {
    const { id, tenant, skill, options } = asked;
    const wanted = { id, request: requestOf(asked) };
    const entry = await this.#keys.claim({ tenant, key: idempotencyKey, wanted });
    const isRepeated = entry.id !== id;
    const joined = { ...asked, id: entry.id, isRepeated };
    if (!isRepeated || !skill.bundle.manifest.idempotent) return this.#run(joined, pool);
    // Only one of both calls may be announced.
    const { onEvent: _, ...quiet } = options;
    const outcome = await this.#run({ ...joined, options: quiet }, pool);
    if (outcome.ok || outcome.error.code !== 'outcome_unknown') {
      const events = new Events(entry.id, this.#headOf(joined), options);
      events.accepted();
      events.done(outcome);
      return outcome;
    }
    const again = await this.#keys.replace(tenant, idempotencyKey, { lost: entry, wanted });
    return this.#run({ ...asked, id: again.id, isRepeated: again.id !== id }, pool);
  }

  #load(ref: string, { load }: ClusterExecuteOptions): Promise<Skill> {
    return load ? load(ref) : this.#parts.runtime.load(ref);
  }

  async #run(asked: Asked, pool: string): Promise<Outcome> {
    const { id, tenant, options, isRepeated } = asked;
    const head = this.#headOf(asked);
    const events = new Events(id, head, options);
    const call = new ClientCall(this.#parts, {
      ...{ head, tenant, signal: options.signal, isRepeated },
      onReply: (reply) => events.hear(reply),
      runMs: runMsOf(asked),
    });
    const key = subjects.mark(tenant, id);
    // A repeated request must not take the replies of the first.
    const isFirst = !this.#waiting.has(key);
    if (isFirst) this.#waiting.set(key, call);
    try {
      await call.publish(subjects.job(pool, tenant), asked.params);
      events.accepted();
      return await this.#ended(asked, events, await call.wait());
    } catch (thrown) {
      const error = toSkillError(thrown);
      // Refused by its queue: not accepted, so without a receipt, as by a dispatcher.
      if (error.code === 'resource_exceeded') return refused(asked, error);
      return this.#ended(asked, events, await call.settleUnconfirmed(error));
    } finally {
      if (isFirst) this.#waiting.delete(key);
    }
  }

  async #ended(asked: Asked, events: Events, ending: Ending): Promise<Outcome> {
    const { skill, id, options } = asked;
    if ('outcome' in ending) {
      events.done(ending.outcome);
      return ending.outcome;
    }
    if ('takenBack' in ending) {
      const outcome = refused(asked, ending.takenBack);
      events.done(outcome);
      return outcome;
    }
    // Its receipt is this front end's, because no worker ever had it.
    const onEvent = events.withoutAccepted(options.onEvent);
    return this.#endHere(skill, id, { options: { ...options, ...onEvent }, error: ending.neverBegan });
  }

  /** An outcome and a receipt for a call that no worker began, by the local runtime: its turn is refused. */
  #endHere(
    ref: string | Skill,
    id: string,
    { options, error }: { options: ClusterExecuteOptions; error: SkillError },
  ): Promise<Outcome> {
    const { caller, onEvent } = options;
    return this.#parts.runtime.execute(
      ref,
      {},
      {
        id,
        turn: Promise.reject(error),
        reject: false,
        ...(caller === undefined ? {} : { caller }),
        ...(onEvent ? { onEvent } : {}),
      },
    );
  }

  #headOf({ id, skill, tenant, options }: Asked): CallHead {
    const { name, waitMs = WAIT_MS } = this.#options;
    const { bundle } = skill;
    const { timeout, memory, execution, kind, trace, caller, idempotencyKey } = options;
    return {
      v: 1,
      id,
      front: name,
      skill: { name: bundle.manifest.name, digest: bundle.digest },
      caller: caller ?? `http:${tenant}:${name}`,
      isolated: true,
      beginBefore: Date.now() + waitMs,
      ...(kind === undefined ? {} : { kind }),
      ...(timeout === undefined ? {} : { timeout }),
      ...(memory === undefined ? {} : { memory }),
      ...(execution === undefined ? {} : { execution }),
      ...(trace?.traceparent === undefined ? {} : { trace: { ...trace, traceparent: trace.traceparent } }),
      ...(idempotencyKey === undefined ? {} : { keeps: true }),
    };
  }

  #hear(message: Msg): void {
    const [, , tenant = '', , id = ''] = message.subject.split('.');
    this.#waiting.get(`${tenant}.${id}`)?.hear(message);
  }
}

/** The events of a call of a cluster, as a local call has them. */
class Events {
  readonly #onEvent: ExecuteOptions['onEvent'];
  readonly #call: { -readonly [Key in keyof RunningCall]: RunningCall[Key] };

  constructor(id: string, { skill, caller }: CallHead, { onEvent }: ExecuteOptions) {
    this.#onEvent = onEvent;
    this.#call = { id, ref: skill.name, caller, startedAt: new Date(), execution: undefined };
  }

  accepted(): void {
    this.#emit({ type: 'accepted', call: this.#call });
  }

  hear(reply: Reply): void {
    if (reply.type === 'started') {
      const execution = reply.execution as Place;
      this.#call.execution = execution;
      this.#emit({ type: 'started', call: this.#call, skill: reply.skill, execution });
    } else if (reply.type === 'log') {
      const { text, stream } = reply;
      this.#emit({ type: 'log', call: this.#call, text, ...(stream ? { stream } : {}) });
    }
  }

  done(outcome: Outcome): void {
    const call = this.#call;
    for (const denial of outcome.capabilities.denied) this.#emit({ type: 'denied', call, denial });
    if (!outcome.ok && outcome.error.code === 'resource_exceeded') {
      const { error } = outcome;
      this.#emit({ type: 'limit', call, limit: error.detail['limit'] as LimitName, error });
    }
    this.#emit({ type: 'done', call, outcome });
  }

  /** The call was already announced as accepted. */
  withoutAccepted(onEvent: ExecuteOptions['onEvent']): Pick<ExecuteOptions, 'onEvent'> {
    if (!onEvent) return {};
    return {
      onEvent: (event) => {
        if (event.type !== 'accepted') onEvent(event);
      },
    };
  }

  #emit(event: CallEvent): void {
    if (this.#onEvent) notify(this.#onEvent, event);
  }
}

/** What a message can ask. Everything else would grant something, and only the worker decides about that. */
const ASKED: ReadonlySet<string> = new Set<keyof ClusterExecuteOptions>([
  ...(['id', 'caller', 'tenantName', 'idempotencyKey', 'kind', 'trace', 'turn', 'load', 'reject'] as const),
  ...(['timeout', 'memory', 'execution', 'isolated', 'signal', 'onEvent'] as const),
]);

function assertOnlyAsks(options: ClusterExecuteOptions): void {
  const given = Object.entries(options).find(
    ([name, value]) => !ASKED.has(name) && value !== undefined && value !== false,
  );
  if (!given) return;
  const [name] = given;
  throw new SkillError('usage', `The option "${name}" cannot be used in a cluster: the worker decides`, {
    fix: `Leave out "${name}", and configure the workers.`,
    detail: { option: name },
  });
}

function bytesOf(params: unknown): Uint8Array {
  if (params instanceof JsonText) return params.bytes;
  try {
    return Buffer.from(JSON.stringify(params) ?? 'null');
  } catch (cause) {
    throw new SkillError('invalid_params', 'The parameters cannot be written as JSON', {
      fix: 'Pass plain data.',
      cause,
    });
  }
}

/** A worker ends the call after its timeout; before that, it may have to fetch packages or an image. */
function runMsOf({ skill, options }: Asked): number {
  const declared = skill.bundle.manifest.limits.timeout ?? DEFAULT_LIMITS.timeout;
  return Math.min(declared, options.timeout ?? declared) + PREPARE_MS;
}

/** What has to be equal for a request to be the same one again. */
function requestOf({ skill, params, options }: Asked): string {
  const { timeout, memory, execution } = options;
  const asked = JSON.stringify([skill.bundle.digest, timeout, memory, execution]);
  return hash('sha256', Buffer.concat([Buffer.from(`${asked}\n`), params]), 'hex');
}

function refused({ id, skill }: Asked, error: SkillError): Outcome {
  const { manifest, digest } = skill.bundle;
  const identity: SkillIdentity = { name: manifest.name, version: manifest.version, digest };
  return {
    ok: false,
    error: error.toBody(),
    call_id: id,
    skill: identity,
    usage: { wall_ms: 0, cpu_ms: 0, memory_peak_bytes: 0, fuel: 0, output_bytes: 0, host_calls: 0 },
    capabilities: { used: [], denied: [] },
    logs: '',
    warnings: [],
  };
}
