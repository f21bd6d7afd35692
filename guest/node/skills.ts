/**
 * Calls of other skills from a Node cell: numbered requests over the channel, whose answers settle promises.
 *
 * @module
 */
import { Closed, receiveAnswer, sendWith, waitForTheEnd, type Answer } from './channel.ts';
import { namesFor, SkillCallError, type Refused } from '../wasm/js/prelude/skill-names.ts';

/** Requests that the host works on at once. Further ones wait here. */
const MOST_AT_ONCE = 64;

/** Saved before skill code runs: a skill that replaces them must not see or forge what others exchange. */
const { parse, stringify } = JSON;
const bytesOf = Buffer.from.bind(Buffer) as (text: string) => Buffer;

interface Request {
  name: string;
  params: Buffer;
  resolve: (answer: Answer) => void;
  reject: (error: unknown) => void;
}

/** Defines `skills`, `functions` and `SkillCallError` for the skill. */
export function defineSkills(): void {
  const requests = new Requests();
  const call = async (name: string, params: unknown): Promise<unknown> => {
    const text = stringify(params ?? {}) as string | undefined;
    return resultOf(await requests.ask(name, bytesOf(text ?? '')));
  };
  const { functions, skills } = namesFor(call);
  for (const [name, value] of Object.entries({ functions, skills }))
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
}

function resultOf({ frame, payload }: Answer): unknown {
  if ('code' in frame)
    throw new SkillCallError({
      code: 'usage',
      message: `The host refused the request (${frame.code})`,
      fix: 'Correct the call.',
    });
  const answer = frame.value as unknown as { ok: boolean } & Refused;
  if (!answer.ok) throw new SkillCallError(answer);
  return parse(payload.toString('utf8'));
}

class Requests {
  readonly #open = new Map<number, Request>();
  readonly #waiting: Request[] = [];
  #last = 0;
  #isReading = false;

  ask(name: string, params: Buffer): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    this.#waiting.push({ name, params, resolve, reject });
    this.#sendWaiting();
    return promise;
  }

  #sendWaiting(): void {
    while (this.#open.size < MOST_AT_ONCE) {
      const request = this.#waiting.shift();
      if (!request) break;
      const id = ++this.#last;
      this.#open.set(id, request);
      sendWith({ t: 'ask', id, op: 'skill.call', args: { name: request.name } }, request.params);
    }
    if (this.#open.size > 0 && !this.#isReading) this.#read();
  }

  /** Reads only while an answer is due, so that nothing keeps a finished skill waiting. */
  #read(): void {
    this.#isReading = true;
    receiveAnswer().then(
      (answer) => this.#take(answer),
      (error: unknown) => this.#fail(error),
    );
  }

  #take(answer: Answer): void {
    this.#isReading = false;
    const id = Number(answer.frame.id);
    const request = this.#open.get(id);
    this.#open.delete(id);
    request?.resolve(answer);
    this.#sendWaiting();
  }

  #fail(error: unknown): void {
    if (error instanceof Closed) waitForTheEnd();
    for (const { reject } of this.#open.values()) reject(error);
    this.#open.clear();
  }
}
