/**
 * Requests of `wasi:http/types`: outgoing-request, its body, and options.
 *
 * @module
 */
import { GuestEnd, type HostFunction, type HostResource } from '../../contract.ts';
import { type Call, currentCall, type Slot } from '../call.ts';
import { asOption, asResource, asString, asU64, asVariant, trap } from '../check.ts';
import { OutputStream } from '../streams.ts';
import type { HttpErrorCode } from './exchange.ts';
import { asFields, type Fields } from './fields.ts';
import { isAuthority, isPath, isScheme, isToken } from './rules.ts';

type Variant = { tag: string; val?: unknown };
type Plain = { ok: undefined } | { err: undefined };

const DONE: Plain = { ok: undefined };
const REFUSED: Plain = { err: undefined };

const METHODS: ReadonlySet<string> = new Set(
  'get head post put delete connect options trace patch'.split(' '),
);

class OutgoingBody implements HostResource {
  readonly #call: Call;
  readonly #chunks: Uint8Array[] = [];
  readonly #expected: number | undefined;
  #length = 0;
  #state: 'new' | 'open' | 'finished' | 'dropped' = 'new';
  /** Set by the sender of the request: called once the body is complete, or can never be. */
  onEnd: ((error?: HttpErrorCode) => void) | undefined;

  constructor(call: Call, expected: number | undefined) {
    this.#call = call;
    this.#expected = expected;
  }

  get complete(): boolean {
    return this.#state === 'finished';
  }

  /** The only stream of the body. */
  write(): { ok: OutputStream } | { err: undefined } {
    if (this.#state !== 'new') return { err: undefined };
    this.#state = 'open';
    return { ok: new OutputStream(this.#call, { write: (bytes) => this.#collect(bytes) }) };
  }

  finish(trailers: Fields | undefined): { ok: undefined } | { err: HttpErrorCode } {
    if (this.#state === 'finished' || this.#state === 'dropped') trap('A body was finished twice');
    if (trailers !== undefined && trailers.entries().length > 0) {
      return this.#failed({ tag: 'HTTP-request-trailer-section-size', val: 0 });
    }
    if (this.#expected !== undefined && this.#expected !== this.#length) {
      return this.#failed({ tag: 'HTTP-request-body-size', val: BigInt(this.#length) });
    }
    this.#state = 'finished';
    this.onEnd?.();
    return { ok: undefined };
  }

  bytes(): Uint8Array {
    return Buffer.concat(this.#chunks, this.#length);
  }

  drop(): void {
    if (this.#state === 'finished' || this.#state === 'dropped') return;
    this.#failed({ tag: 'HTTP-protocol-error' });
  }

  #failed(error: HttpErrorCode): { err: HttpErrorCode } {
    this.#state = 'dropped';
    this.onEnd?.(error);
    return { err: error };
  }

  #collect(bytes: Uint8Array): void {
    if (this.#state !== 'open') trap('A body was written to after its end');
    this.#length += bytes.length;
    if (this.#length > this.#call.limits.requestBody) throw new GuestEnd('limit', 'http_body');
    this.#chunks.push(bytes);
  }
}

export class OutgoingRequest implements HostResource {
  readonly call: Call;
  readonly headers: Fields;
  method: Variant = { tag: 'get' };
  scheme: Variant | undefined;
  authority: string | undefined;
  path: string | undefined;
  body: OutgoingBody | undefined;
  sent = false;

  constructor(call: Call, headers: Fields) {
    this.call = call;
    this.headers = headers.copy(true);
  }

  takeBody(): { ok: OutgoingBody } | { err: undefined } {
    if (this.body !== undefined || this.sent) return { err: undefined };
    const [length] = this.headers.get('content-length');
    this.body = new OutgoingBody(
      this.call,
      length === undefined ? undefined : Number(Buffer.from(length).toString('latin1')),
    );
    return { ok: this.body };
  }

  drop(): void {
    if (!this.sent) this.body?.drop();
  }
}

export class RequestOptions {
  connect: bigint | undefined;
  firstByte: bigint | undefined;
  betweenBytes: bigint | undefined;
}

export function outgoingFunctions(slot: Slot): Record<string, HostFunction> {
  return {
    '[constructor]outgoing-request': {
      call: (headers) => new OutgoingRequest(currentCall(slot), asFields(headers)),
    },
    '[method]outgoing-request.body': { call: (self) => request(self).takeBody() },
    '[method]outgoing-request.headers': { call: (self) => request(self).headers.copy(true) },
    '[method]outgoing-request.method': { call: (self) => request(self).method },
    '[method]outgoing-request.set-method': { call: setMethod },
    '[method]outgoing-request.scheme': { call: (self) => request(self).scheme },
    '[method]outgoing-request.set-scheme': { call: setScheme },
    '[method]outgoing-request.authority': { call: (self) => request(self).authority },
    '[method]outgoing-request.set-authority': { call: setAuthority },
    '[method]outgoing-request.path-with-query': { call: (self) => request(self).path },
    '[method]outgoing-request.set-path-with-query': { call: setPath },
    '[method]outgoing-body.write': { call: (self) => asResource(self, OutgoingBody).write() },
    '[static]outgoing-body.finish': {
      call: (self, trailers) => asResource(self, OutgoingBody).finish(asOption(trailers, asFields)),
    },
    '[constructor]request-options': { call: () => new RequestOptions() },
    ...timeout('connect-timeout', 'connect'),
    ...timeout('first-byte-timeout', 'firstByte'),
    ...timeout('between-bytes-timeout', 'betweenBytes'),
  };
}

function timeout(name: string, key: 'connect' | 'firstByte' | 'betweenBytes'): Record<string, HostFunction> {
  return {
    [`[method]request-options.${name}`]: { call: (self) => asResource(self, RequestOptions)[key] },
    [`[method]request-options.set-${name}`]: {
      call: (self, duration) => {
        asResource(self, RequestOptions)[key] = asOption(duration, asU64);
        return DONE;
      },
    },
  };
}

function request(self: unknown): OutgoingRequest {
  const target = asResource(self, OutgoingRequest);
  if (target.sent) trap('A request was used after it had been sent');
  return target;
}

function setMethod(self: unknown, value: unknown): Plain {
  const target = request(self);
  const { tag, val } = asVariant(value);
  if (tag !== 'other' && !METHODS.has(tag)) trap('An argument is not a method');
  if (tag === 'other' && !isToken(asString(val))) return REFUSED;
  target.method = tag === 'other' ? { tag, val } : { tag };
  return DONE;
}

function setScheme(self: unknown, value: unknown): Plain {
  const target = request(self);
  const scheme = asOption(value, asVariant);
  if (scheme !== undefined && !['HTTP', 'HTTPS', 'other'].includes(scheme.tag))
    trap('An argument is not a scheme');
  if (scheme?.tag === 'other' && !isScheme(asString(scheme.val))) return REFUSED;
  target.scheme = scheme;
  return DONE;
}

function setAuthority(self: unknown, value: unknown): Plain {
  const target = request(self);
  const authority = asOption(value, asString);
  if (authority !== undefined && !isAuthority(authority)) return REFUSED;
  target.authority = authority;
  return DONE;
}

function setPath(self: unknown, value: unknown): Plain {
  const target = request(self);
  const path = asOption(value, asString);
  if (path !== undefined && path !== '' && !isPath(path)) return REFUSED;
  target.path = path;
  return DONE;
}
