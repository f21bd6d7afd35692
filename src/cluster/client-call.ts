/**
 * One call on a front end, from its message to its outcome.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import type { JetStreamClient } from '@nats-io/jetstream';
import type { Msg, NatsConnection } from '@nats-io/transport-node';
import { SkillError } from '../errors.ts';
import { MAX_JSON_HERE, JsonText, attachResult } from '../json-text.ts';
import type { Failure, Outcome, Success } from '../outcome.ts';
import type { Runtime } from '../runtime.ts';
import { writeFrame } from './frame.ts';
import { retried, type Marks } from './marks.ts';
import { outcomeOf, readReply, type CallHead, type Mark, type Reply } from './messages.ts';
import { subjects } from './names.ts';
import { MAX_INLINE, type Stores } from './stores.ts';
import { outcomeName, paramsName } from './worker-call.ts';

/** What the calls of a front end share. */
export interface ClientParts {
  connection: NatsConnection;
  stream: JetStreamClient;
  runtime: Runtime;
  marks: Marks;
  stores: Stores;
}

/**
 * How a call ended: with an outcome of a worker, or before it began. `neverBegan`: this front end took it back, so the
 * receipt is its own. `takenBack`: another request with the same idempotency key did, and has the receipt.
 */
export type Ending = { outcome: Outcome } | { neverBegan: SkillError } | { takenBack: SkillError };

/** A call that the queue took, and what may come back. */
export interface QueuedCall {
  head: CallHead;
  tenant: string;
  signal: AbortSignal | undefined;
  onReply: (reply: Reply) => void;
  /** How long it may take once it has begun; a worker that says for ever that it still runs it is not believed. */
  runMs: number;
  /** An earlier request with the same idempotency key may have run it already. */
  isRepeated: boolean;
}

const TICK_MS = 1000;
/** After five missed heartbeats, the mark is read. */
const SILENT_MS = 10_000;
/** The servers drop an expired message on the second. */
const GRACE_MS = 1500;
const MARK_MS = 20_000;
const PUBLISH_MS = 10_000;
const ALIVE_MS = 1000;
/** A worker that finished stores an outcome that nobody confirmed. */
const STORED_MS = 10_000;

export class ClientCall {
  readonly #parts: ClientParts;
  readonly #call: QueuedCall;
  /** The same for all attempts, because the answer to the first may be lost. */
  #nonce: string | undefined;
  readonly #ending = Promise.withResolvers<Ending>();
  #worker: string | undefined;
  #heardAt = performance.now();
  readonly #endBy: number;
  #hasWarned = false;
  #isStopped = false;
  #wake: () => void = () => undefined;

  constructor(parts: ClientParts, call: QueuedCall) {
    this.#parts = parts;
    this.#call = call;
    const untilBegin = Math.max(0, call.head.beginBefore - Date.now());
    this.#endBy = performance.now() + untilBegin + call.runMs;
  }

  /** Puts the call into its queue. Throws `resource_exceeded` if the queue is full; then it was never accepted. */
  async publish(subject: string, params: Uint8Array): Promise<void> {
    const { head, tenant } = this.#call;
    const { stores, stream } = this.#parts;
    const isLarge = params.length > MAX_INLINE;
    if (isLarge) await stores.putLarge(tenant, paramsName(head.id), params);
    const frame = isLarge ? writeFrame({ ...head, isLarge }) : writeFrame(head, params);
    const seconds = Math.max(1, Math.ceil((head.beginBefore - Date.now()) / 1000));
    const options = { msgID: subjects.mark(tenant, head.id), ttl: `${seconds}s`, timeout: 2000 };
    await retried(PUBLISH_MS, async () => {
      try {
        await stream.publish(subject, frame, options);
      } catch (error) {
        // Not an error to repeat: nothing was stored.
        if (isFull(error)) return full();
        throw error;
      }
      return undefined;
    }).then((refusal) => {
      if (refusal) throw refusal;
    });
  }

  /** A reply on the subject of this call. */
  hear(message: Msg): void {
    this.#read(message).catch((error: unknown) => {
      // Once, because whoever sends such messages can send many.
      if (!this.#hasWarned) process.emitWarning(String(error), 'SkillcellWarning');
      this.#hasWarned = true;
    });
  }

  /** Resolves at the end of the call, whatever happens to workers, servers and messages. */
  async wait(): Promise<Ending> {
    try {
      return await Promise.race([this.#ending.promise, this.#watch()]);
    } finally {
      this.#isStopped = true;
      this.#wake();
    }
  }

  /** The queue did not confirm the call. The mark decides whether it can still begin. */
  async settleUnconfirmed(error: SkillError): Promise<Ending> {
    const taken = await this.#take();
    if (taken === 'mine') return { neverBegan: notQueued(error) };
    // It was queued after all, or nothing can be known.
    return taken ? this.wait() : { outcome: this.#unknown(undefined) };
  }

  async #read(message: Msg): Promise<void> {
    const { reply, body } = readReply(message.data);
    this.#heardAt = performance.now();
    if (reply.type === 'accepted' || reply.type === 'alive') this.#worker = reply.worker;
    if (reply.type === 'lost') return this.#ending.resolve({ outcome: this.#unknown(reply.worker) });
    if (reply.type === 'done') {
      const ending = reply.isStored ? await this.#stored() : await this.#outcome(reply, body);
      message.respond();
      return this.#ending.resolve({ outcome: ending });
    }
    this.#call.onReply(reply);
  }

  /** Small results are parsed here, large ones stay text that a worker thread has checked. */
  async #outcome(reply: Reply & { type: 'done' }, body: Uint8Array): Promise<Outcome> {
    const { head, tenant } = this.#call;
    const outcome = outcomeOf(reply, head);
    if (!outcome.ok) return outcome;
    if (body.length <= MAX_JSON_HERE)
      return ordered(outcome, JSON.parse(Buffer.from(body).toString('utf8')) as unknown);
    const wrapped = Buffer.concat([Buffer.from('{"result":'), body, Buffer.from('}')]);
    const { parts } = await this.#parts.runtime.readMessage(wrapped, { path: ['result'], owner: tenant });
    const [text] = parts;
    return attachResult(ordered(outcome, undefined), text ?? new JsonText(body));
  }

  async #stored(): Promise<Outcome> {
    const { head, tenant } = this.#call;
    const name = outcomeName(head.id);
    const bytes = await retried(STORED_MS, () => this.#parts.stores.getLarge(tenant, name));
    const { reply, body } = readReply(bytes);
    if (reply.type !== 'done') return this.#unknown(this.#worker);
    if (head.keeps !== true) this.#parts.stores.dropLarge(tenant, name);
    return this.#outcome(reply, body);
  }

  async #watch(): Promise<Ending> {
    const { signal } = this.#call;
    while (!this.#isStopped) {
      await this.#pause(signal);
      if (this.#isStopped) break;
      const ending = signal?.aborted ? await this.#cancel() : await this.#check();
      if (ending) return ending;
      // The message that cancels has no memory, so it is sent again.
      if (signal?.aborted) await this.#pause(undefined);
    }
    return this.#ending.promise;
  }

  /** A second, or until the call ends or is cancelled. */
  async #pause(signal: AbortSignal | undefined): Promise<void> {
    if (this.#isStopped || signal?.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, TICK_MS);
    this.#wake = resolve;
    signal?.addEventListener('abort', this.#wake);
    await promise;
    clearTimeout(timer);
    signal?.removeEventListener('abort', this.#wake);
  }

  async #check(): Promise<Ending | undefined> {
    const { head, isRepeated } = this.#call;
    // The replies go to the front end of the first request.
    const earlier = isRepeated && this.#worker === undefined ? await this.#look() : undefined;
    if (earlier) return earlier;
    if (this.#worker === undefined && Date.now() > head.beginBefore + GRACE_MS) return this.#takeBack();
    if (performance.now() > this.#endBy) return this.#giveUp();
    if (performance.now() - this.#heardAt < SILENT_MS) return undefined;
    return this.#look();
  }

  #giveUp(): Ending {
    const { tenant, head } = this.#call;
    this.#parts.connection.publish(subjects.cancel(tenant, head.id));
    return { outcome: this.#unknown(this.#worker) };
  }

  /** Before it has begun, the mark makes sure that it never does; after that, its worker has to end it. */
  async #cancel(): Promise<Ending | undefined> {
    const { tenant, head } = this.#call;
    const taken = await this.#take();
    if (taken === 'mine') return { neverBegan: cancelledBefore() };
    this.#parts.connection.publish(subjects.cancel(tenant, head.id));
    return taken && this.#judge(taken);
  }

  async #takeBack(): Promise<Ending | undefined> {
    const taken = await this.#take();
    if (taken === 'mine') return { neverBegan: late() };
    return taken && this.#judge(taken);
  }

  /** Our mark, the mark of another, or undefined if the servers do not answer. */
  async #take(): Promise<'mine' | Mark | undefined> {
    const { tenant, head } = this.#call;
    this.#nonce ??= randomBytes(12).toString('hex');
    const marked = { tenant, id: head.id, nonce: this.#nonce };
    const taken = await this.#parts.marks.take(marked, 'cancelled', MARK_MS).catch(() => undefined);
    if (!taken) return undefined;
    return taken.isMine ? 'mine' : taken.mark;
  }

  async #look(): Promise<Ending | undefined> {
    const { tenant, head } = this.#call;
    const mark = await this.#parts.marks.get({ tenant, id: head.id }, MARK_MS).catch(() => undefined);
    return mark && this.#judge(mark);
  }

  /** What a mark says about a call of which nothing is heard. */
  async #judge(mark: Mark): Promise<Ending | undefined> {
    const { tenant, head } = this.#call;
    if (mark.state === 'cancelled') return { takenBack: cancelledBefore() };
    if (mark.state === 'done') {
      if (mark.isStored) return { outcome: await this.#stored().catch(() => this.#unknown(mark.by)) };
      // The answer is confirmed by this process before the mark says so, so it is being read.
      return performance.now() - this.#heardAt > SILENT_MS ? { outcome: this.#unknown(mark.by) } : undefined;
    }
    if (performance.now() - this.#heardAt < SILENT_MS && this.#worker !== undefined) return undefined;
    const key = Buffer.from(subjects.mark(tenant, head.id));
    const answer = await this.#parts.connection
      .request(subjects.alive(mark.by), key, { timeout: ALIVE_MS })
      .catch(() => undefined);
    const isRunning = answer !== undefined && Buffer.from(answer.data).toString('utf8') === '1';
    if (isRunning || (await this.#hasFinished())) return undefined;
    return { outcome: this.#unknown(mark.by) };
  }

  /** It may have ended between the look at its mark and the question to its worker. */
  async #hasFinished(): Promise<boolean> {
    const { tenant, head } = this.#call;
    const again = await this.#parts.marks.get({ tenant, id: head.id }, MARK_MS).catch(() => undefined);
    return again?.state !== 'begun';
  }

  #unknown(worker: string | undefined): Outcome {
    return unknownOutcome(this.#call.head, worker);
  }
}

/** The members in the order of a local outcome. */
function ordered(outcome: Success, result: unknown): Success {
  const { ok: _ok, result: _result, ...rest } = outcome;
  return { ok: true, result, ...rest };
}

export function unknownOutcome({ id, skill }: Pick<CallHead, 'id' | 'skill'>, worker?: string): Failure {
  const lost = worker === undefined ? 'The worker' : `The worker "${worker}"`;
  const error = new SkillError(
    'outcome_unknown',
    `${lost} was lost during this call, so what the skill did is not known`,
    {
      fix: 'Find out what the skill did, for example from its receipt, before you call it again.',
      detail: { ...(worker === undefined ? {} : { worker }) },
    },
  );
  return {
    ok: false,
    error: error.toBody(),
    call_id: id,
    skill: { name: skill.name, version: '', digest: skill.digest },
    usage: { wall_ms: 0, cpu_ms: 0, memory_peak_bytes: 0, fuel: 0, output_bytes: 0, host_calls: 0 },
    capabilities: { used: [], denied: [] },
    logs: '',
    warnings: [],
  };
}

/** `maximum messages per subject exceeded`, `maximum messages exceeded`, or no room on the servers. */
const FULL = /maximum (?:messages|bytes)|insufficient resources|resource limits exceeded/i;

function isFull(error: unknown): boolean {
  return error instanceof Error && FULL.test(error.message);
}

function full(): SkillError {
  return new SkillError('resource_exceeded', 'Too many calls are waiting in the cluster', {
    fix: 'Try again after 1000 ms, or ask the operator to start more workers.',
    detail: { limit: 'busy', scope: 'cluster', retry_after_ms: 1000 },
  });
}

function late(): SkillError {
  return new SkillError('resource_exceeded', 'No worker was free before the call had to begin', {
    fix: 'Try again after 1000 ms, or ask the operator to start more workers.',
    detail: { limit: 'busy', scope: 'cluster', retry_after_ms: 1000 },
  });
}

function cancelledBefore(): SkillError {
  return new SkillError('cancelled', 'The call was cancelled before it began', {
    fix: 'Call it again if you still need the result.',
  });
}

function notQueued(cause: SkillError): SkillError {
  return new SkillError('skill_unavailable', `The cluster did not take the call: ${cause.message}`, {
    fix: 'Check the connection to the servers, and call it again.',
    cause,
  });
}
