/**
 * Request and Response, with complete bodies: a cell has no streams.
 *
 * @module
 */
import type { AbortSignal } from './abort.ts';
import { bytesOf, TextDecoder, TextEncoder } from './encoding.ts';
import { Headers, type HeadersInit } from './headers.ts';
import { asText } from './text.ts';
import { URL, URLSearchParams } from './url.ts';

const NO_BYTES = new Uint8Array(0);
const USUAL_METHODS: ReadonlySet<string> = new Set([
  'DELETE',
  'GET',
  'HEAD',
  'OPTIONS',
  'POST',
  'PUT',
  'PATCH',
]);

export type BodyInit = string | ArrayBuffer | ArrayBufferView | URLSearchParams | null | undefined;

class Message {
  readonly headers: Headers;
  readonly #bytes: Uint8Array;
  #used = false;

  constructor(body: BodyInit, headers: HeadersInit) {
    this.headers = new Headers(headers);
    const { bytes, type } = readBody(body);
    this.#bytes = bytes;
    if (type !== undefined && !this.headers.has('content-type')) this.headers.set('content-type', type);
  }

  get bodyUsed(): boolean {
    return this.#used;
  }

  async bytes(): Promise<Uint8Array> {
    return this.take();
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return this.take().slice().buffer;
  }

  async text(): Promise<string> {
    return new TextDecoder().decode(this.take());
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.text());
  }

  /** A body can be read once, as in browsers. */
  protected take(): Uint8Array {
    if (this.#used) throw new TypeError('The body was already read');
    this.#used = true;
    return this.#bytes;
  }

  protected get content(): Uint8Array {
    if (this.#used) throw new TypeError('The body was already read');
    return this.#bytes;
  }
}

export interface RequestInit {
  method?: string;
  headers?: HeadersInit;
  body?: BodyInit;
  signal?: AbortSignal | null;
  redirect?: 'follow' | 'error' | 'manual';
}

export class Request extends Message {
  readonly method: string;
  readonly url: string;
  readonly redirect: 'follow' | 'error' | 'manual';
  readonly signal: AbortSignal | undefined;

  constructor(input: Request | URL | string, init: RequestInit = {}) {
    const from = input instanceof Request ? input : undefined;
    const method = methodOf(init.method ?? from?.method ?? 'GET');
    if (init.body && (method === 'GET' || method === 'HEAD')) throw new TypeError(`${method} has no body`);
    super(init.body ?? from?.content, init.headers ?? from?.headers);
    this.method = method;
    this.url = from?.url ?? new URL(input).href;
    this.redirect = init.redirect ?? from?.redirect ?? 'follow';
    this.signal = init.signal === undefined ? from?.signal : (init.signal ?? undefined);
  }

  clone(): Request {
    return new Request(this);
  }

  /** The body that is sent. */
  get payload(): Uint8Array {
    return this.take();
  }
}

export interface ResponseInit {
  status?: number;
  statusText?: string;
  headers?: HeadersInit;
}

export class Response extends Message {
  readonly status: number;
  readonly statusText: string;
  readonly type: string = 'default';
  url = '';
  redirected = false;

  constructor(body?: BodyInit, { status = 200, statusText = '', headers }: ResponseInit = {}) {
    super(body, headers);
    this.status = status;
    this.statusText = statusText;
  }

  static json(value: unknown, init: ResponseInit = {}): Response {
    const headers = new Headers(init.headers);
    if (!headers.has('content-type')) headers.set('content-type', 'application/json');
    return new Response(JSON.stringify(value), { ...init, headers });
  }

  get ok(): boolean {
    return this.status >= 200 && this.status < 300;
  }

  clone(): Response {
    const { status, statusText, headers } = this;
    const copy = new Response(this.content, { status, statusText, headers });
    copy.url = this.url;
    copy.redirected = this.redirected;
    return copy;
  }
}

function methodOf(value: unknown): string {
  const text = asText(value);
  return USUAL_METHODS.has(text.toUpperCase()) ? text.toUpperCase() : text;
}

function readBody(body: BodyInit): { bytes: Uint8Array; type?: string } {
  if (body === undefined || body === null) return { bytes: NO_BYTES };
  if (body instanceof ArrayBuffer || ArrayBuffer.isView(body)) return { bytes: bytesOf(body).slice() };
  const type = body instanceof URLSearchParams ? 'application/x-www-form-urlencoded' : 'text/plain';
  return { bytes: new TextEncoder().encode(body), type: `${type};charset=UTF-8` };
}
