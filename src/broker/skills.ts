/**
 * Calls of other skills, as a cell asks for them: `skill.call`, or `skill.start` and `skill.wait`. What may be called is
 * decided by `InnerCalls`; this is the bookkeeping of one call, and ends with it.
 *
 * @module
 */
import {
  BrokerRefusal,
  type BrokerReply,
  type BrokerRequest,
  type InnerAnswer,
  type InnerCalls,
  type InnerRefusal,
  type SkillAnswer,
} from '../cell/contract.ts';
import { printableLine } from '../manifest/printable.ts';
import type { Records } from './records.ts';

/** Started calls whose answers were not fetched. */
const MAX_STARTED = 256;
/** No id of a skill and no name of a function is longer. */
const MAX_NAME = 200;
/** Parameters of one call. Larger data belongs in a file of the workspace. */
const MAX_PARAMS_BYTES = 4 * 1024 * 1024;
/** Longer than any call; timers cannot count further. */
const MAX_TIMER_MS = 2 ** 31 - 1;
/** The last failures are kept: the one that ends a call is among them, unless it kept an old one. */
const MAX_FAILED = 256;
const NO_BYTES = new Uint8Array(0);

interface Started {
  controller: AbortController;
  /** Set once the call has ended. */
  answer?: InnerAnswer;
}

export class SkillBroker {
  readonly #inner: InnerCalls | undefined;
  /** Created with the first request, because most calls make none. */
  #ended: AbortController | undefined;
  #isClosed = false;
  readonly #started = new Map<number, Started>();
  #next = 1;
  #wake: PromiseWithResolvers<void> = Promise.withResolvers();

  readonly #records: Records;
  readonly #failed: InnerRefusal[] = [];

  constructor(inner: InnerCalls | undefined, records: Records) {
    this.#inner = inner;
    this.#records = records;
  }

  /** What the guest was told about calls that were refused or failed. */
  get failed(): readonly InnerRefusal[] {
    return this.#failed;
  }

  /** Undefined if the request is not about skills. */
  async handle({ op, args, payload = NO_BYTES }: BrokerRequest): Promise<BrokerReply | undefined> {
    switch (op) {
      case 'skill.call':
        return this.#reply(await this.#call(args, payload, this.#signal));
      case 'skill.start':
        return this.#start(args, payload);
      case 'skill.wait':
        return this.#wait(idsOf(args['calls']), timeoutOf(args['timeout_ms']));
      case 'skill.cancel':
        this.#started.get(Number(args['call']))?.controller.abort();
        return { value: {} };
      default:
        return undefined;
    }
  }

  /** Cancels whatever still runs. */
  close(): void {
    this.#isClosed = true;
    this.#ended?.abort();
    this.#started.clear();
    this.#wake.resolve();
  }

  get #signal(): AbortSignal {
    this.#ended ??= new AbortController();
    return this.#ended.signal;
  }

  async #call(
    { name }: Record<string, unknown>,
    params: Uint8Array,
    signal: AbortSignal,
  ): Promise<InnerAnswer> {
    if (typeof name !== 'string' || name.length > MAX_NAME) throw malformed('the name of the skill');
    if (this.#isClosed) throw malformed('the time: the call has ended');
    const asked = `call ${printableLine(name)}`;
    if (!this.#inner) {
      const denied = { capability: 'skill', asked, declared: 'not declared' } as const;
      this.#records.note('denied', denied);
      return { ...NO_CALLS, denied };
    }
    if (params.length > MAX_PARAMS_BYTES) return tooLarge(params.length);
    const answer = await this.#inner.call(name, params, signal);
    const { denied, isUncalled } = answer.ok ? CALLED : answer;
    if (denied) this.#records.note('denied', denied);
    else if (!isUncalled)
      this.#records.note('used', { capability: 'skill', asked, declared: this.#inner.declared(name) });
    return answer;
  }

  #start(args: Record<string, unknown>, params: Uint8Array): BrokerReply {
    if (this.#started.size >= MAX_STARTED) return this.#reply(TOO_MANY);
    const id = this.#next++;
    const started: Started = { controller: new AbortController() };
    this.#started.set(id, started);
    const signal = AbortSignal.any([this.#signal, started.controller.signal]);
    this.#call(args, params, signal).then(
      (answer) => this.#end(started, answer),
      (error: unknown) => this.#end(started, failed(error)),
    );
    return { value: { call: id } };
  }

  #end(started: Started, answer: InnerAnswer): void {
    started.answer = answer;
    this.#wake.resolve();
    this.#wake = Promise.withResolvers();
  }

  /** The first of these calls that has ended, or of all. Each answer is given out once. */
  async #wait(wanted: number[] | undefined, timeoutMs: number): Promise<BrokerReply> {
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      const open = (wanted ?? [...this.#started.keys()]).filter((id) => this.#started.has(id));
      if (open.length === 0) throw malformed('the list of calls: none of them is running');
      const id = open.find((one) => this.#started.get(one)?.answer);
      const answer = id === undefined ? undefined : this.#started.get(id)?.answer;
      if (id !== undefined && answer) {
        this.#started.delete(id);
        const { value, payload } = this.#reply(answer);
        return { value: { ...value, call: id }, ...(payload ? { payload } : {}) };
      }
      const left = deadline - performance.now();
      if (left <= 0) return { value: {} };
      await atMost(left, this.#wake.promise);
    }
  }

  #reply(answer: InnerAnswer): BrokerReply {
    if (answer.ok) return { value: { ok: true } satisfies SkillAnswer, payload: answer.result };
    this.#failed.push(answer);
    if (this.#failed.length > MAX_FAILED) this.#failed.shift();
    const { code, message, fix } = answer;
    return { value: { ok: false, code, message, fix } satisfies SkillAnswer };
  }
}

function idsOf(given: unknown): number[] | undefined {
  if (given === undefined) return undefined;
  const isList = Array.isArray(given) && given.length <= MAX_STARTED;
  if (!isList || !given.every((id) => Number.isSafeInteger(id))) throw malformed('the list of calls');
  return given as number[];
}

function timeoutOf(given: unknown): number {
  if (given === undefined) return Number.POSITIVE_INFINITY;
  if (typeof given === 'number' && given >= 0) return given;
  throw malformed('the timeout');
}

async function atMost(ms: number, work: Promise<void>): Promise<void> {
  if (ms > MAX_TIMER_MS) return work;
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function malformed(what: string): BrokerRefusal {
  return new BrokerRefusal('inval', `The request is malformed: ${what}`);
}

function failed(error: unknown): InnerRefusal {
  const message = error instanceof BrokerRefusal ? error.message : 'The host could not make the call';
  return { ok: false, code: 'usage', message, fix: 'Correct the request.' };
}

const CALLED: Pick<InnerRefusal, 'denied' | 'isUncalled'> = {};

const NO_CALLS: InnerRefusal = {
  ok: false,
  code: 'capability_denied',
  message: 'This call may not call other skills',
  fix: 'Declare the skill under capabilities.skills in the manifest.',
};

const TOO_MANY: InnerRefusal = {
  ok: false,
  code: 'resource_exceeded',
  message: `More than ${MAX_STARTED} calls were started and not waited for`,
  fix: 'Wait for some of them before starting more.',
};

function tooLarge(bytes: number): InnerRefusal {
  return {
    ok: false,
    code: 'invalid_params',
    message: `The parameters are ${bytes} bytes; the maximum is ${MAX_PARAMS_BYTES}`,
    fix: 'Pass large data as a file in the workspace.',
  };
}
