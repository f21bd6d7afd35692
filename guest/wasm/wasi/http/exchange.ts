/**
 * One request to the broker and its answer, for both `wasi:http` and `skillcell:skill/host`.
 *
 * @module
 */
import { BrokerError, type HttpRequest } from '../broker-client.ts';
import type { Call } from '../call.ts';

export interface HttpAnswer {
  status: number;
  headers: [string, string][];
  body: ResponseBody;
}

/** A variant of `wasi:http/types.error-code`. */
export interface HttpErrorCode {
  tag: string;
  val?: unknown;
}

/** The rest of a body, held by the broker. Released when read to its end or no longer wanted. */
export class ResponseBody {
  readonly #call: Call;
  readonly #body: number;
  #released = false;

  constructor(call: Call, body: number) {
    this.#call = call;
    this.#body = body;
    call.hold(this);
  }

  async read(length: number): Promise<Uint8Array> {
    const { bytes } = await this.#call.request('httpRead', { body: this.#body, length });
    return bytes ?? new Uint8Array(0);
  }

  release(): void {
    if (this.#released) return;
    this.#released = true;
    this.#call.held.delete(this);
    this.#call.notify('httpClose', { body: this.#body });
  }
}

export async function exchange(call: Call, request: HttpRequest, body: Uint8Array): Promise<HttpAnswer> {
  const { value } = await call.request('http', { ...request }, body);
  return {
    status: Number(value['status']),
    headers: value['headers'] as [string, string][],
    body: new ResponseBody(call, Number(value['body'])),
  };
}

const PLAIN_CODES: ReadonlyMap<string, string> = new Map([
  ['denied', 'HTTP-request-denied'],
  ['acces', 'HTTP-request-denied'],
  ['perm', 'HTTP-request-denied'],
  ['prohibited', 'destination-IP-prohibited'],
  ['connrefused', 'connection-refused'],
  ['connreset', 'connection-terminated'],
  ['pipe', 'connection-terminated'],
  ['hostunreach', 'destination-unavailable'],
  ['netunreach', 'destination-IP-unroutable'],
  ['timedout', 'connection-timeout'],
  ['readtimeout', 'connection-read-timeout'],
  ['responsetimeout', 'HTTP-response-timeout'],
  ['tls', 'TLS-protocol-error'],
  ['cert', 'TLS-certificate-error'],
  ['incomplete', 'HTTP-response-incomplete'],
  ['proto', 'HTTP-protocol-error'],
  ['loop', 'loop-detected'],
  ['inval', 'HTTP-request-URI-invalid'],
]);

/** The code of a failed exchange; errors that are not from the broker are rethrown. */
export function httpErrorCode(error: unknown): HttpErrorCode {
  if (!(error instanceof BrokerError)) throw error;
  const plain = PLAIN_CODES.get(error.code);
  if (plain !== undefined) return { tag: plain };
  if (error.code === 'toobig') return { tag: 'HTTP-response-body-size', val: undefined };
  if (error.code === 'dns') return { tag: 'DNS-error', val: { rcode: undefined, 'info-code': undefined } };
  return { tag: 'internal-error', val: error.message };
}
