/**
 * Responses of `wasi:http/types`: future-incoming-response, incoming-response, its body, and trailers, which
 * never exist.
 *
 * @module
 */
import type { HostFunction, HostResource } from '../../contract.ts';
import type { Call } from '../call.ts';
import { asResource, trap } from '../check.ts';
import { InputStream, IoError } from '../streams.ts';
import { Pollable, Waitable } from '../wait.ts';
import { type HttpAnswer, type HttpErrorCode, httpErrorCode, type ResponseBody } from './exchange.ts';
import { Fields } from './fields.ts';

type Taken<T> = { ok: T } | { err: undefined };
type Answer = { ok: IncomingResponse } | { err: HttpErrorCode };

class IncomingBody implements HostResource {
  readonly #call: Call;
  readonly #body: ResponseBody;
  #streamed = false;
  #finished = false;

  constructor(call: Call, body: ResponseBody) {
    this.#call = call;
    this.#body = body;
  }

  stream(): Taken<InputStream> {
    if (this.#streamed || this.#finished) return { err: undefined };
    this.#streamed = true;
    const source = { read: (length: number) => this.#body.read(length), close: () => this.#body.release() };
    return { ok: new InputStream(this.#call, source) };
  }

  finish(): FutureTrailers {
    if (this.#finished) trap('A body was finished twice');
    this.drop();
    return new FutureTrailers();
  }

  drop(): void {
    this.#finished = true;
    this.#body.release();
  }
}

export class IncomingResponse implements HostResource {
  readonly status: number;
  readonly headers: Fields;
  readonly #call: Call;
  readonly #body: ResponseBody;
  #consumed = false;

  constructor(call: Call, answer: HttpAnswer) {
    this.#call = call;
    this.status = answer.status;
    this.headers = Fields.received(call.limits.headerBytes, answer.headers);
    this.#body = answer.body;
  }

  consume(): Taken<IncomingBody> {
    if (this.#consumed) return { err: undefined };
    this.#consumed = true;
    return { ok: new IncomingBody(this.#call, this.#body) };
  }

  drop(): void {
    if (!this.#consumed) this.#body.release();
  }
}

export class FutureResponse extends Waitable implements HostResource {
  #answer: Answer | undefined;
  #failure: unknown;
  #taken = false;

  override ready(): boolean {
    return this.#answer !== undefined || this.#failure !== undefined;
  }

  settle(answer: Answer): void {
    this.#answer = answer;
    this.notify();
  }

  fail(error: unknown): void {
    try {
      this.settle({ err: httpErrorCode(error) });
    } catch {
      this.#failure = error;
      this.notify();
    }
  }

  get(): Taken<Answer> | undefined {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#answer === undefined) return undefined;
    if (this.#taken) return { err: undefined };
    this.#taken = true;
    return { ok: this.#answer };
  }

  drop(): void {
    if (!this.#taken && this.#answer !== undefined && 'ok' in this.#answer) this.#answer.ok.drop();
    this.#taken = true;
  }
}

class FutureTrailers extends Waitable {
  #taken = false;

  override ready(): boolean {
    return true;
  }

  get(): Taken<{ ok: undefined }> {
    if (this.#taken) return { err: undefined };
    this.#taken = true;
    return { ok: { ok: undefined } };
  }
}

export function incomingFunctions(): Record<string, HostFunction> {
  return {
    '[method]future-incoming-response.subscribe': {
      call: (self) => new Pollable(asResource(self, FutureResponse)),
    },
    '[method]future-incoming-response.get': { call: (self) => asResource(self, FutureResponse).get() },
    '[method]incoming-response.status': { call: (self) => asResource(self, IncomingResponse).status },
    '[method]incoming-response.headers': {
      call: (self) => asResource(self, IncomingResponse).headers.copy(true),
    },
    '[method]incoming-response.consume': { call: (self) => asResource(self, IncomingResponse).consume() },
    '[method]incoming-body.stream': { call: (self) => asResource(self, IncomingBody).stream() },
    '[static]incoming-body.finish': { call: (self) => asResource(self, IncomingBody).finish() },
    '[method]future-trailers.subscribe': { call: (self) => new Pollable(asResource(self, FutureTrailers)) },
    '[method]future-trailers.get': { call: (self) => asResource(self, FutureTrailers).get() },
    'http-error-code': { call: (error) => httpErrorCode(asResource(error, IoError).cause) },
  };
}
