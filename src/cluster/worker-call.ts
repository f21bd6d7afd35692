/**
 * One call on a worker, from its message to its answer.
 *
 * @module
 */
import type { Msg, NatsConnection } from '@nats-io/transport-node';
import type { CallEvent } from '../calls/events.ts';
import { JsonText, MAX_JSON_HERE, parseExact, resultText } from '../json-text.ts';
import type { HostFolders } from '../calls/host-folders.ts';
import type { Outcome } from '../outcome.ts';
import type { TenantContext } from '../policy/tenant-context.ts';
import type { Runtime } from '../runtime.ts';
import type { ExecuteOptions } from '../runtime-options.ts';
import { writeFrame } from './frame.ts';
import { retried, type Marks } from './marks.ts';
import type { TenantFolders } from './tenant-folders.ts';
import type { CallHead } from './messages.ts';
import { subjects, tenantToken } from './names.ts';
import { MAX_INLINE, type Stores } from './stores.ts';
import type { WorkerSkills } from './worker-skills.ts';

/** What the calls of a worker share. */
export interface WorkerParts {
  connection: NatsConnection;
  /** The worker's own name. */
  name: string;
  runtime: Runtime;
  skills: WorkerSkills;
  marks: Marks;
  stores: Stores;
  /** Removes folders of this machine, and those of other tenants, from what callers see. */
  folders: TenantFolders;
  /** What a tenant has here, by its token; throws for an unknown one. Absent: all tenants share everything. */
  contextOf?: ((tenant: string) => TenantContext) | undefined;
  /** The folder that `${workspace}` stands for, without tenants of their own. */
  workspace?: string | undefined;
}

const HEARTBEAT_MS = 2000;
/** Longer output is sent in parts. */
const LOG_PART = 128 * 1024;
const ANSWER_MS = 2000;
const ANSWER_ATTEMPTS = 3;
const FINISH_MS = 10_000;

export class WorkerCall {
  readonly head: CallHead;
  readonly tenant: string;
  /** The newest delivery; after a restart of the server, an older one counts no more. */
  message: Msg;
  readonly #parts: WorkerParts;
  readonly #body: Uint8Array;
  readonly #controller = new AbortController();

  constructor(parts: WorkerParts, given: { head: CallHead; body: Uint8Array; tenant: string; message: Msg }) {
    this.#parts = parts;
    this.head = given.head;
    this.tenant = given.tenant;
    this.message = given.message;
    this.#body = given.body;
  }

  cancel(): void {
    this.#controller.abort();
  }

  /** Keeps the message from being delivered again while the call runs. */
  working(): void {
    this.message.respond('+WPI');
  }

  /** Runs the call. Its mark is ours. */
  async run(): Promise<void> {
    const { name, marks } = this.#parts;
    this.#tell({ type: 'accepted', worker: name });
    const beat = setInterval(() => {
      this.working();
      this.#tell({ type: 'alive', worker: name });
    }, HEARTBEAT_MS);
    try {
      const outcome = await this.#execute();
      const isStored = await this.#answer(outcome);
      // An answer that its front end confirmed needs no other trace than the receipt.
      if (isStored)
        await retried(FINISH_MS, () => marks.finish(this.#marked, isStored)).catch(() => undefined);
      this.message.respond('+ACK');
    } finally {
      clearInterval(beat);
      if (this.head.isLarge) this.#parts.stores.dropLarge(this.tenant, paramsName(this.head.id));
    }
  }

  get #marked(): { tenant: string; id: string } {
    return { tenant: this.tenant, id: this.head.id };
  }

  async #execute(): Promise<Outcome> {
    const { runtime, skills, contextOf, workspace } = this.#parts;
    const { head, tenant } = this;
    const options: ExecuteOptions & { reject: false } = {
      id: head.id,
      caller: callerOf(head, tenant),
      // A message can only ask, and never for less isolation than this.
      isolated: true,
      signal: this.#controller.signal,
      turn: Promise.resolve({ tenant, [Symbol.dispose]: () => undefined }),
      load: () => skills.load(tenant, head.skill),
      onEvent: (event) => this.#forward(event),
      reject: false,
      ...(head.kind === undefined ? {} : { kind: head.kind }),
      ...(head.timeout === undefined ? {} : { timeout: head.timeout }),
      ...(head.memory === undefined ? {} : { memory: head.memory }),
      ...(head.execution === undefined ? {} : { execution: head.execution }),
      ...(head.trace ? { trace: { ...head.trace, tracestate: head.trace.tracestate } } : {}),
      ...(contextOf ? { tenant: () => contextOf(tenant) } : {}),
      ...(workspace === undefined ? {} : { workspace }),
    };
    const params = await this.#params();
    return this.#folders.outcome(await runtime.execute(head.skill.name, params, options));
  }

  get #folders(): HostFolders {
    return this.#parts.folders.of(this.tenant);
  }

  /** Large ones stay text; a worker thread parses and checks them. */
  async #params(): Promise<unknown> {
    const { stores } = this.#parts;
    const bytes = this.head.isLarge
      ? await stores.getLarge(this.tenant, paramsName(this.head.id)).catch(() => Buffer.from(''))
      : this.#body;
    if (bytes.length > MAX_JSON_HERE) return new JsonText(bytes);
    try {
      return parseExact(Buffer.from(bytes).toString('utf8'));
    } catch {
      // Read again where the error becomes an outcome with a receipt.
      return new JsonText(bytes);
    }
  }

  #forward(event: CallEvent): void {
    if (event.type === 'started') {
      const { mode, wall, engine } = event.execution;
      this.#tell({ type: 'started', skill: event.skill, execution: { mode, wall, engine } });
    }
    if (event.type !== 'log') return;
    const { stream } = event;
    const text = this.#folders.text(event.text);
    for (let at = 0; at < text.length; at += LOG_PART)
      this.#tell({ type: 'log', text: text.slice(at, at + LOG_PART), ...(stream ? { stream } : {}) });
  }

  /** Sends the outcome until the front end confirms it. Returns whether it was stored for later. */
  async #answer(outcome: Outcome): Promise<boolean> {
    const { keeps = false } = this.head;
    const { head, result } = partsOf(outcome);
    const whole = writeFrame({ type: 'done', outcome: head }, result);
    const isLarge = whole.length > MAX_INLINE;
    if (keeps || isLarge) await this.#store(whole);
    const frame = isLarge ? writeFrame({ type: 'done', outcome: head, isStored: true }) : whole;
    const isConfirmed = await this.#send(frame);
    if (isConfirmed || keeps || isLarge) return keeps || isLarge;
    await this.#store(whole);
    return true;
  }

  async #send(frame: Uint8Array): Promise<boolean> {
    for (let attempt = 0; attempt < ANSWER_ATTEMPTS; attempt++) {
      try {
        await this.#parts.connection.request(this.#subject, frame, { timeout: ANSWER_MS });
        return true;
      } catch (error) {
        // Nobody waits any more, for example because the front end was killed.
        if (error instanceof Error && error.name === 'NoRespondersError') return false;
        this.working();
      }
    }
    return false;
  }

  async #store(frame: Uint8Array): Promise<void> {
    const { stores } = this.#parts;
    await stores.putLarge(this.tenant, outcomeName(this.head.id), frame).catch((error: unknown) => {
      process.emitWarning(`An outcome could not be stored: ${String(error)}`, 'SkillcellWarning');
    });
  }

  #tell(reply: object): void {
    this.#parts.connection.publish(this.#subject, writeFrame(reply));
  }

  /** Built here and never taken from the message. */
  get #subject(): string {
    return subjects.reply(this.tenant, this.head.front, this.head.id);
  }
}

export function paramsName(id: string): string {
  return `${id}.params`;
}

export function outcomeName(id: string): string {
  return `${id}.outcome`;
}

/** The name for guards and receipts: what the front end says only counts if it is about this tenant. */
export function callerOf({ caller, front }: Pick<CallHead, 'caller' | 'front'>, tenant: string): string {
  const [, name] = /^http:([\w.-]{1,64}):[\w.:-]{1,128}$/.exec(caller) ?? [];
  return name !== undefined && tenantToken(name) === tenant ? caller : `http:${tenant}:${front}`;
}

/** The result travels as text behind the rest. */
function partsOf(outcome: Outcome): { head: object; result: Uint8Array } {
  if (!outcome.ok) return { head: outcome, result: new Uint8Array() };
  const keys = Object.keys(outcome).filter((key) => key !== 'result');
  const head = Object.fromEntries(keys.map((key) => [key, outcome[key as keyof Outcome]]));
  const text = resultText(outcome);
  return { head, result: text ? text.bytes : Buffer.from(JSON.stringify(outcome.result) ?? 'null') };
}
