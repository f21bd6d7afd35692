/**
 * fetch: the host makes the request if the grant covers it, and follows no redirects; each is a separate request.
 *
 * @module
 */
import { Request, Response, type RequestInit } from './messages.ts';
import { ask, HostFailure, withdraw, type HostAnswer } from './pending.ts';
import { URL } from './url.ts';

const MAX_REDIRECTS = 20;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const NO_BYTES = new Uint8Array(0);
/** Headers of a body that is not sent again, and headers that are only for one server. */
const BODY_HEADERS = ['content-encoding', 'content-language', 'content-location', 'content-type'];
const REASONS: Readonly<Record<string, string>> = {
  connrefused: 'the server refused the connection',
  dns: 'the name cannot be resolved',
  timedout: 'the server did not answer in time',
  tls: "the server's certificate is not valid",
  toobig: 'the response is too large',
};

interface Sent {
  method: string;
  url: URL;
  headers: [string, string][];
  body: Uint8Array;
}

interface Received {
  status: number;
  headers: [string, string][];
}

export async function fetch(input: Request | URL | string, init: RequestInit = {}): Promise<Response> {
  const request = new Request(input, init);
  const body = request.payload;
  let sent: Sent = { method: request.method, url: new URL(request.url), headers: [...request.headers], body };
  for (let count = 0; ; count++) {
    const { received, bytes } = await exchange(sent, request);
    const location = received.headers.find(([name]) => name.toLowerCase() === 'location')?.[1];
    const isRedirect = REDIRECTS.has(received.status) && location !== undefined;
    if (!isRedirect || request.redirect === 'manual') return responseOf(received, bytes, { sent, count });
    if (request.redirect === 'error') throw new TypeError(`fetch failed: ${sent.url.href} is a redirect`);
    if (count >= MAX_REDIRECTS) throw new TypeError('fetch failed: too many redirects');
    sent = redirected(sent, received.status, location);
  }
}

async function exchange(sent: Sent, { signal }: Request): Promise<{ received: Received; bytes: Uint8Array }> {
  signal?.throwIfAborted();
  const { method, url, headers, body } = sent;
  const address = new URL(url);
  address.hash = '';
  const question = ask('fetch', { method, url: address.href, headers }, body);
  const answer = signal === undefined ? question.answer : raced(question, signal);
  try {
    const { value, bytes } = await answer;
    return { received: value as Received, bytes: bytes ?? NO_BYTES };
  } catch (error) {
    if (!(error instanceof HostFailure)) throw error;
    throw new TypeError(
      `fetch failed: ${REASONS[error.code] ?? error.message}: ${method} ${address.origin}${address.pathname}`,
      { cause: error },
    );
  }
}

/** The response, or the reason to stop waiting. */
function raced(
  question: { id: number; answer: Promise<HostAnswer> },
  signal: NonNullable<Request['signal']>,
): Promise<HostAnswer> {
  return new Promise((resolve, reject) => {
    question.answer.then(resolve, reject);
    signal.addEventListener('abort', () => {
      withdraw(question.id);
      reject(signal.reason);
    });
  });
}

function redirected({ method, url, headers, body }: Sent, status: number, location: string): Sent {
  const next = new URL(location, url);
  if (next.protocol !== 'http:' && next.protocol !== 'https:')
    throw new TypeError(`fetch failed: redirected to ${next.protocol}`);
  const becomesGet = status === 303 ? method !== 'HEAD' : status < 303 && method === 'POST';
  const dropped = new Set([
    ...(becomesGet ? BODY_HEADERS : []),
    ...(next.origin === url.origin ? [] : ['authorization', 'cookie', 'proxy-authorization']),
  ]);
  return {
    method: becomesGet ? 'GET' : method,
    url: next,
    headers: headers.filter(([name]) => !dropped.has(name.toLowerCase())),
    body: becomesGet ? NO_BYTES : body,
  };
}

function responseOf(
  { status, headers }: Received,
  bytes: Uint8Array,
  { sent, count }: { sent: Sent; count: number },
): Response {
  const response = new Response(bytes, { status, headers });
  response.url = sent.url.href;
  response.redirected = count > 0;
  return response;
}
