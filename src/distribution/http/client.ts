/**
 * The only way from here to other machines: requests with limits on bytes, time and redirects. Credentials go to the origin
 * that they were given for. Failures that may pass are retried, and broken downloads resumed.
 *
 * @module
 */
import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import { sha256 } from '../../load/digest.ts';
import type { TransferWatch } from '../transfer-watch.ts';
import { announcedLength, readInto, readSome } from './body.ts';
import { Connections, exchange, TransferFault, type Incoming } from './exchange.ts';
import { badStatus, interrupted, refused, unreachable, wrongDigest } from './problems.ts';
import type { Reach } from './reach.ts';
import { Resumption } from './resume.ts';
import { mayRetry, pauseBefore } from './retry.ts';
import { parseWebAddress } from './web-address.ts';

export interface HttpLimits {
  /** For the whole exchange: redirects, retries and the body. */
  readonly totalMs: number;
  readonly silenceMs: number;
  readonly redirects: number;
  readonly retries: number;
}

const HTTP_LIMITS: HttpLimits = { totalMs: 600_000, silenceMs: 30_000, redirects: 5, retries: 3 };

export interface HttpClientOptions {
  readonly limits?: Partial<HttpLimits>;
  /** Where the proxy settings are read; `process.env` by default. */
  readonly env?: NodeJS.ProcessEnv;
}

export interface HttpAsk {
  readonly url: string | URL;
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH';
  /** What is transferred, for messages: `the manifest "1.0.0"`. Quote untrusted names. */
  readonly what: string;
  /** Of the body of a successful answer. */
  readonly maxBytes: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent to the origin of `url` only, never to where it redirects. */
  readonly authorization?: string | undefined;
  readonly body?: Buffer;
  /** The digest that the body must have, as `sha256:…`. */
  readonly digest?: string | undefined;
  /** How far away the server is that named `url`, from its answer; absent if a person named it. */
  readonly from?: Reach | undefined;
  readonly totalMs?: number;
  readonly watch?: TransferWatch | undefined;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Of a failed request, only the beginning. */
  readonly body: Buffer;
  /** The address that answered, after redirects. */
  readonly url: URL;
  readonly reach: Reach;
}

const MAX_ERROR_BYTES = 16 * 1024;
const USER_AGENT = 'skillcell';

export class HttpClient {
  readonly #limits: HttpLimits;
  readonly #connections: Connections;

  constructor({ limits, env = process.env }: HttpClientOptions = {}) {
    this.#limits = { ...HTTP_LIMITS, ...limits };
    this.#connections = new Connections(env);
  }

  /** The body of a successful answer; throws for every other status. */
  async get(ask: HttpAsk): Promise<HttpAnswer> {
    const answer = await this.send(ask);
    if (answer.status === 200) return answer;
    throw badStatus(ask.what, answer.status, answer.body);
  }

  /** The final answer, whatever its status. */
  async send(ask: HttpAsk): Promise<HttpAnswer> {
    const { what, watch } = ask;
    const totalMs = ask.totalMs ?? this.#limits.totalMs;
    const deadline = AbortSignal.timeout(totalMs);
    const signal = watch?.signal ? AbortSignal.any([watch.signal, deadline]) : deadline;
    try {
      const answer = await this.#tryOften(ask, signal);
      assertDigest(ask, answer);
      return answer;
    } catch (error) {
      if (watch?.signal?.aborted === true) throw interrupted(what);
      if (deadline.aborted) throw unreachable(what, `it took longer than ${totalMs / 1000} s`, error);
      if (error instanceof TransferFault) throw unreachable(what, error.message, error);
      throw error;
    }
  }

  close(): void {
    this.#connections.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  async #tryOften(ask: HttpAsk, signal: AbortSignal): Promise<HttpAnswer> {
    const resumption = new Resumption(ask);
    for (let attempt = 0; ; attempt++) {
      const isLast = attempt >= this.#limits.retries;
      try {
        const answer = await this.#follow(ask, resumption, signal);
        if (isLast || !mayRetry(ask.method ?? 'GET', answer.status)) return answer;
        await sleep(pauseBefore(attempt, answer.headers['retry-after']), undefined, { signal });
      } catch (error) {
        const isPassing =
          error instanceof TransferFault && error.isTransient && mayRetry(ask.method ?? 'GET');
        if (isLast || !isPassing || signal.aborted) throw error;
        await sleep(pauseBefore(attempt), undefined, { signal });
      }
    }
  }

  /** One attempt, through all redirects. */
  async #follow(ask: HttpAsk, resumption: Resumption, signal: AbortSignal): Promise<HttpAnswer> {
    const { what } = ask;
    const first = parseWebAddress(String(ask.url), what);
    let [url, from, authorization] = [first, ask.from, ask.authorization];
    for (let hops = 0; hops <= this.#limits.redirects; hops++) {
      const incoming = await this.#exchange(ask, {
        url,
        from,
        authorization,
        headers: resumption.headers(),
        signal,
      });
      const next = redirectOf(incoming, ask, url);
      if (next === undefined) return await this.#read(ask, { incoming, url, resumption });
      incoming.message.destroy();
      from = incoming.reach;
      // Once another origin was involved, credentials are gone for good.
      if (next.origin !== first.origin) authorization = undefined;
      url = next;
    }
    throw refused(what, `the server redirected more than ${this.#limits.redirects} times`);
  }

  #exchange(ask: HttpAsk, hop: Hop): Promise<Incoming> {
    const { authorization, headers, ...rest } = hop;
    return exchange(
      {
        ...rest,
        what: ask.what,
        method: ask.method ?? 'GET',
        headers: {
          'user-agent': USER_AGENT,
          'accept-encoding': 'identity',
          ...ask.headers,
          ...headers,
          ...(authorization === undefined ? {} : { authorization }),
        },
        body: ask.body,
        silenceMs: this.#limits.silenceMs,
      },
      this.#connections,
    );
  }

  async #read(ask: HttpAsk, { incoming, url, resumption }: Arrived): Promise<HttpAnswer> {
    const { message, reach } = incoming;
    const { statusCode: status = 0, headers } = message;
    const { silenceMs } = this.#limits;
    const answer = { status: status === 206 ? 200 : status, headers, url, reach };
    if (status < 200 || status >= 300)
      return { ...answer, body: await readSome(message, MAX_ERROR_BYTES, silenceMs) };
    const encoding = headers['content-encoding'] ?? 'identity';
    if (encoding !== 'identity') {
      message.destroy();
      throw refused(ask.what, 'the server compressed its answer, which it was asked not to do');
    }
    const chunks = resumption.begin(message);
    const { what, maxBytes, watch } = ask;
    const total = ask.method === 'HEAD' ? 0 : announcedLength(message);
    const whole = total === undefined ? undefined : total + resumption.length;
    const onBytes = (count: number): void => watch?.onProgress?.(count, whole, what);
    if (ask.method === 'HEAD') message.resume();
    else await readInto(chunks, message, { what, maxBytes, silenceMs, onBytes });
    return { ...answer, body: Buffer.concat(chunks) };
  }
}

interface Hop {
  url: URL;
  from: Reach | undefined;
  authorization: string | undefined;
  headers: Record<string, string>;
  signal: AbortSignal;
}

interface Arrived {
  incoming: Incoming;
  url: URL;
  resumption: Resumption;
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

function redirectOf({ message }: Incoming, ask: HttpAsk, url: URL): URL | undefined {
  const { location } = message.headers;
  if (!REDIRECTS.has(message.statusCode ?? 0) || location === undefined) return undefined;
  try {
    if (ask.method !== undefined && ask.method !== 'GET' && ask.method !== 'HEAD')
      throw refused(ask.what, 'the server redirected an upload');
    const next = parseWebAddress(location, ask.what, url);
    if (url.protocol === 'https:' && next.protocol === 'http:')
      throw refused(ask.what, 'the server redirected to an address without encryption');
    return next;
  } catch (error) {
    message.destroy();
    throw error;
  }
}

function assertDigest({ what, digest, method }: HttpAsk, { status, body }: HttpAnswer): void {
  if (digest === undefined || status !== 200 || method === 'HEAD') return;
  const found = `sha256:${sha256(body)}`;
  if (found !== digest) throw wrongDigest(what, digest, found);
}
