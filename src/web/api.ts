/**
 * Sends requests to the service that served this page. The token stays in this tab and is sent in a header, never in a
 * cookie or URL, so no other page can make the browser send it.
 *
 * @module
 */
import type { ErrorBody } from './types.ts';

const KEY = 'skillcell-token';

/** The service refused the request, or did not answer. */
export class ApiError extends Error {
  readonly status: number;
  readonly body: ErrorBody;

  constructor(status: number, body: ErrorBody) {
    super(body.message);
    this.status = status;
    this.body = body;
  }
}

export interface ServerEvent {
  event: string;
  data: Record<string, unknown>;
}

export function hasToken(): boolean {
  return sessionStorage.getItem(KEY) !== null;
}

export function keepToken(token: string): void {
  sessionStorage.setItem(KEY, token.trim());
}

export function forgetToken(): void {
  sessionStorage.removeItem(KEY);
}

/** Moves the token from the URL that `skillcell serve` prints into the session, and removes it from the history. */
export function takeTokenFromAddress(): void {
  const token = /^#token=([\w-]+)$/.exec(location.hash)?.[1];
  if (token === undefined) return;
  keepToken(token);
  history.replaceState(null, '', location.pathname);
}

export async function get<T>(path: string): Promise<T> {
  return (await ask(path, { method: 'GET' })).json() as Promise<T>;
}

export async function send<T>(method: string, path: string, body?: unknown): Promise<T> {
  return (await ask(path, { method, ...jsonBody(body) })).json() as Promise<T>;
}

/** One part of a text, and the address of the next one, if any. */
export async function part(path: string): Promise<{ text: string; next?: string }> {
  const response = await ask(path, { method: 'GET' });
  const next = /^<(\/v1\/[^>]*)>; rel="next"$/.exec(response.headers.get('link') ?? '')?.[1];
  return { text: await response.text(), ...(next === undefined ? {} : { next }) };
}

/** Server-sent events. Does not use EventSource, which cannot send a token. */
export async function* events(
  path: string,
  init: RequestInit & { json?: unknown } = {},
): AsyncGenerator<ServerEvent> {
  const { json, ...rest } = init;
  const headers = { accept: 'text/event-stream' };
  const { body } = await ask(path, { ...rest, ...jsonBody(json, headers) });
  if (!body) return;
  let text = '';
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    text += part.value;
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const parsed = parseEvent(text.slice(0, end));
      text = text.slice(end + 2);
      if (parsed) yield parsed;
    }
  }
}

/** Keeps the slash of the id, which is allowed in the path. */
export function skillPath(name: string): string {
  return `/v1/skills/${name.split('/').map(encodeURIComponent).join('/')}`;
}

function parseEvent(block: string): ServerEvent | undefined {
  const event = /^event: (.*)$/m.exec(block)?.[1];
  const data = /^data: (.*)$/m.exec(block)?.[1];
  return event === undefined || data === undefined
    ? undefined
    : { event, data: JSON.parse(data) as ServerEvent['data'] };
}

function jsonBody(body: unknown, headers: Record<string, string> = {}): RequestInit {
  if (body === undefined) return { headers };
  return { body: JSON.stringify(body), headers: { ...headers, 'content-type': 'application/json' } };
}

async function ask(path: string, init: RequestInit): Promise<Response> {
  const token = sessionStorage.getItem(KEY) ?? '';
  const headers = { ...(init.headers as Record<string, string>), authorization: `Bearer ${token}` };
  let response: Response;
  try {
    response = await fetch(path, { ...init, headers });
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new ApiError(0, {
      code: 'internal',
      message: 'The service does not respond',
      fix: 'Check that it is still running, then try again.',
    });
  }
  if (response.ok) return response;
  throw new ApiError(response.status, await errorIn(response));
}

async function errorIn(response: Response): Promise<ErrorBody> {
  try {
    return ((await response.json()) as { error: ErrorBody }).error;
  } catch {
    return {
      code: 'internal',
      message: `The service responded with status ${response.status}`,
      fix: 'Try again.',
    };
  }
}
