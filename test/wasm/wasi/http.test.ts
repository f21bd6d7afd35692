import { describe, expect, test } from 'vitest';

import type { HttpRequest } from '../../../guest/wasm/wasi/broker-client.ts';
import { ending, type Harness, harness, ok, text } from './harness.ts';

const TYPES = 'http/types';
const fieldsOf = (h: Harness, list: [string, string][] = []): unknown =>
  ok(
    h.use(
      TYPES,
      '[static]fields.from-list',
      list.map(([name, value]) => [name, Buffer.from(value)]),
    ),
  );

function request(h: Harness, headers: [string, string][] = []): unknown {
  const made = h.use(TYPES, '[constructor]outgoing-request', fieldsOf(h, headers));
  set(h, made, 'scheme', { tag: 'HTTPS' });
  set(h, made, 'authority', 'api.example.com:8443');
  set(h, made, 'path-with-query', '/v1?q=1');
  return made;
}

function set(h: Harness, target: unknown, ...[what, value]: [string, unknown]): unknown {
  return h.use(TYPES, `[method]outgoing-request.set-${what}`, target, value);
}

function handle(h: Harness, made: unknown, options?: unknown): unknown {
  return h.use('http/outgoing-handler', 'handle', made, options);
}

async function answer(h: Harness, future: unknown): Promise<unknown> {
  const pollable = h.use(TYPES, '[method]future-incoming-response.subscribe', future);
  await h.use('io/poll', '[method]pollable.block', pollable);
  return ok(h.use(TYPES, '[method]future-incoming-response.get', future));
}

function serving(h: Harness, seen: { request?: HttpRequest; body?: string } = {}): void {
  h.broker.serve = (message, body) => {
    seen.request = message;
    seen.body = text(body);
    return { status: 201, headers: [['X-Reply', 'yes']], body: 'answer body' };
  };
}

describe('wasi:http', () => {
  test('sends a request with a body and streams the response', async () => {
    const h = harness();
    const seen: { request?: HttpRequest; body?: string } = {};
    serving(h, seen);
    const made = request(h, [
      ['accept', 'text/plain'],
      ['Content-Length', '5'],
    ]);
    set(h, made, 'method', { tag: 'post' });
    const body = ok(h.use(TYPES, '[method]outgoing-request.body', made));
    expect(h.use(TYPES, '[method]outgoing-request.body', made)).toEqual({ err: undefined });
    const options = h.use(TYPES, '[constructor]request-options');
    h.use(TYPES, '[method]request-options.set-connect-timeout', options, 1_500_000n);
    const future = ok(handle(h, made, options));
    expect(h.use(TYPES, '[method]future-incoming-response.get', future)).toBeUndefined();
    const stream = ok(h.use(TYPES, '[method]outgoing-body.write', body));
    h.use('io/streams', '[method]output-stream.blocking-write-and-flush', stream, Buffer.from('hello'));
    expect(h.broker.ops()).toEqual([]);
    expect(h.use(TYPES, '[static]outgoing-body.finish', body, undefined)).toEqual({ ok: undefined });
    const response = ok(await answer(h, future));
    expect(seen).toEqual({
      body: 'hello',
      request: {
        method: 'POST',
        scheme: 'https',
        authority: 'api.example.com:8443',
        path: '/v1?q=1',
        headers: [['accept', 'text/plain']],
        connectTimeout: 2,
      },
    });
    expect(h.use(TYPES, '[method]future-incoming-response.get', future)).toEqual({ err: undefined });
    expect(h.use(TYPES, '[method]incoming-response.status', response)).toBe(201);
    const headers = h.use(TYPES, '[method]incoming-response.headers', response);
    expect(h.use(TYPES, '[method]fields.get', headers, 'x-reply')).toEqual([Buffer.from('yes')]);
    const incoming = ok(h.use(TYPES, '[method]incoming-response.consume', response));
    expect(h.use(TYPES, '[method]incoming-response.consume', response)).toEqual({ err: undefined });
    const source = ok(h.use(TYPES, '[method]incoming-body.stream', incoming));
    const read = (): unknown => h.use('io/streams', '[method]input-stream.blocking-read', source, 6n);
    expect([text(ok(await read())), text(ok(await read())), await read()]).toEqual([
      'answer',
      ' body',
      { err: { tag: 'closed' } },
    ]);
    const trailers = h.use(TYPES, '[static]incoming-body.finish', incoming);
    expect(h.use(TYPES, '[method]future-trailers.get', trailers)).toEqual({ ok: { ok: undefined } });
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(h.broker.bodies.size).toBe(0);
  });

  test('reports a denial as an error code, not a trap', async () => {
    const h = harness();
    const future = ok(handle(h, request(h)));
    expect(await answer(h, future)).toEqual({ err: { tag: 'HTTP-request-denied' } });
  });

  test('sends nothing if a body was dropped or is shorter than declared', async () => {
    const h = harness();
    serving(h);
    const dropped = request(h);
    const body = ok(h.use(TYPES, '[method]outgoing-request.body', dropped)) as { drop(): void };
    const future = ok(handle(h, dropped));
    body.drop();
    expect(await answer(h, future)).toEqual({ err: { tag: 'HTTP-protocol-error' } });
    const short = request(h, [['content-length', '5']]);
    const empty = ok(h.use(TYPES, '[method]outgoing-request.body', short));
    const failed = { err: { tag: 'HTTP-request-body-size', val: 0n } };
    expect(h.use(TYPES, '[static]outgoing-body.finish', empty, undefined)).toEqual(failed);
    expect(h.broker.ops()).toEqual([]);
  });

  test('releases an unread response with its handle', async () => {
    const h = harness();
    serving(h);
    (ok(await answer(h, ok(handle(h, request(h))))) as { drop(): void }).drop();
    ok(handle(h, request(h)));
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(h.broker.bodies.size).toBe(1);
    h.host.finish();
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(h.broker.bodies.size).toBe(0);
  });

  test('accepts no header fields that break out of their line or address the connection', () => {
    const h = harness();
    const fields = h.use(TYPES, '[constructor]fields');
    const append = (name: string, value: string): unknown =>
      h.use(TYPES, '[method]fields.append', fields, name, Buffer.from(value, 'latin1'));
    const syntax = { err: { tag: 'invalid-syntax' } };
    for (const value of ['a\r\nb: c', 'a\n', '\r', 'a\0', '\x7f']) expect(append('x', value)).toEqual(syntax);
    for (const name of ['', 'a b', 'a:', 'a\r\n', 'ä']) expect(append(name, 'v')).toEqual(syntax);
    for (const name of ['Host', 'connection', 'Transfer-Encoding', 'upgrade', 'TE']) {
      expect(append(name, 'v')).toEqual({ err: { tag: 'forbidden' } });
    }
    expect(append('X-Ok', 'tab\tand ümlaut')).toEqual({ ok: undefined });
    expect(append('x-ok', 'two')).toEqual({ ok: undefined });
    expect(h.use(TYPES, '[method]fields.get', fields, 'X-OK')).toHaveLength(2);
    expect(h.use(TYPES, '[method]fields.set', fields, 'X-OK', [Buffer.from('one')])).toEqual({
      ok: undefined,
    });
    expect(h.use(TYPES, '[method]fields.entries', fields)).toEqual([['X-OK', Buffer.from('one')]]);
    expect(h.use(TYPES, '[method]fields.has', fields, 'x-ok')).toBe(true);
    const copy = h.use(TYPES, '[method]fields.clone', fields);
    expect(h.use(TYPES, '[method]fields.delete', copy, 'x-ok')).toEqual({ ok: undefined });
    expect(h.use(TYPES, '[method]fields.has', fields, 'x-ok')).toBe(true);
    const made = h.use(TYPES, '[constructor]outgoing-request', fields);
    const fixed = h.use(TYPES, '[method]outgoing-request.headers', made);
    expect(h.use(TYPES, '[method]fields.delete', fixed, 'x-ok')).toEqual({ err: { tag: 'immutable' } });
  });

  test('limits header fields and bodies', async () => {
    const h = harness({ limits: { headerBytes: 100, requestBody: 10 } });
    const fields = h.use(TYPES, '[constructor]fields');
    const big = Buffer.from('v'.repeat(100));
    expect(await ending(() => h.use(TYPES, '[method]fields.append', fields, 'x', big))).toEqual({
      kind: 'limit',
      detail: 'http_headers',
    });
    const body = ok(h.use(TYPES, '[method]outgoing-request.body', request(h)));
    const stream = ok(h.use(TYPES, '[method]outgoing-body.write', body));
    const write = (): unknown =>
      h.use('io/streams', '[method]output-stream.blocking-write-and-flush', stream, new Uint8Array(11));
    expect(await ending(write)).toEqual({ kind: 'limit', detail: 'http_body' });
  });

  test('refuses ambiguous targets', () => {
    const h = harness();
    const made = request(h);
    const refused = { err: undefined };
    for (const authority of ['user@host', 'a/b', 'a b', 'a:b', 'a:123456', 'a%2e', '', 'a\\b', '[::1', 'é']) {
      expect(set(h, made, 'authority', authority)).toEqual(refused);
    }
    for (const authority of ['localhost', 'a.b:1', '[::1]:80']) {
      expect(set(h, made, 'authority', authority)).toEqual({ ok: undefined });
    }
    for (const path of ['a', '/ b', '/\r\nx', '/#f', '//é', 'http://x/']) {
      expect(set(h, made, 'path-with-query', path)).toEqual(refused);
    }
    expect(set(h, made, 'method', { tag: 'other', val: 'A B' })).toEqual(refused);
    expect(set(h, made, 'method', { tag: 'other', val: 'PURGE' })).toEqual({ ok: undefined });
    set(h, made, 'scheme', { tag: 'other', val: 'ftp' });
    expect(handle(h, made)).toEqual({ err: { tag: 'HTTP-protocol-error' } });
  });

  test('ends a guest that calls a server function', async () => {
    const h = harness();
    const fields = fieldsOf(h);
    expect(await ending(() => h.use(TYPES, '[constructor]outgoing-response', fields))).toMatchObject({
      kind: 'trap',
    });
  });
});

describe('skillcell:skill/host', () => {
  const fetch = (h: Harness, url: string, headers: [string, string][] = []): unknown =>
    h.use('skillcell:skill/host', 'fetch', 'GET', url, headers, new Uint8Array(0));

  test('fetches a response', async () => {
    const h = harness();
    const seen: { request?: HttpRequest } = {};
    serving(h, seen);
    const response = ok(await fetch(h, 'HTTPS://api.example.com/a?b#c', [['x-a', 'b']]));
    expect(response).toMatchObject({ status: 201, headers: [['X-Reply', 'yes']] });
    expect(text((response as { body: unknown }).body)).toBe('answer body');
    expect(seen.request).toEqual({
      method: 'GET',
      scheme: 'https',
      authority: 'api.example.com',
      path: '/a?b',
      headers: [['x-a', 'b']],
    });
    await fetch(h, 'http://api.example.com?b');
    expect(seen.request).toMatchObject({ scheme: 'http', path: '/?b' });
  });

  test('says why a request is refused', async () => {
    const h = harness();
    expect(await fetch(h, 'https://api.example.com')).toEqual({ err: 'denied: The host is not granted' });
    const asked = h.broker.requests.length;
    for (const url of [
      'ftp://a',
      'https://u:p@a/',
      'https://a/\r\nx',
      'https://',
      'file:///etc/passwd',
      '//a',
    ]) {
      expect(await fetch(h, url)).toHaveProperty('err');
    }
    expect(await fetch(h, 'https://a', [['host', 'b']])).toEqual({
      err: 'A skill cannot set the header "host"',
    });
    expect(await fetch(h, 'https://a', [['x', 'a\nb']])).toHaveProperty('err');
    expect(h.broker.requests).toHaveLength(asked);
  });

  test('limits the size of a response', async () => {
    const h = harness({ limits: { responseBody: 5 } });
    serving(h);
    expect(await fetch(h, 'https://a')).toEqual({ err: 'the response is too large' });
  });
});
