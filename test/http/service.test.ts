/**
 * The service as its clients see it: access, answers, and what a tenant may see.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { propagation, trace } from '@opentelemetry/api';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStage, type Ask, type Stage } from './stage.ts';

const ECHO = `
  def execute(params):
      print("hello from the cell")
      return {"echo": params}
`;

const SKILLS = {
  echo: { source: ECHO },
  fails: { source: 'def execute(params):\n    raise ValueError("no")' },
  sleepy: {
    source: 'import time\ndef execute(params):\n    time.sleep(20)',
    manifest: { limits: { timeout: '300ms' } },
  },
  nosy: { source: 'def execute(params):\n    return open("/etc/hostname").read()' },
  asked: { source: ECHO, manifest: { env_vars: { COLOUR: { required: false } } } },
  broken: { source: ECHO, manifest: { limits: { timeout: 'soon' } } },
};

let stage: Stage;

beforeAll(async () => {
  stage = await openStage({
    skills: SKILLS,
    policy: 'skills: [{ match: "test/asked", decision: ask }]',
    listen: { maxBodyBytes: 10_000 },
  });
});

afterAll(() => stage[Symbol.asyncDispose]());

async function answer(asked: Promise<Response>): Promise<{ status: number; body: unknown }> {
  const response = await asked;
  return { status: response.status, body: await response.json() };
}

const refused = (code: string): object => ({ ok: false, error: { code, fix: expect.any(String) as string } });

describe('a call over HTTP', () => {
  test('returns the whole outcome', async () => {
    const response = await stage.execute('test/echo', { a: [1, 'ä'] });
    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(await response.json()).toMatchObject({
      ok: true,
      result: { echo: { a: [1, 'ä'] } },
      logs: 'hello from the cell\n',
      skill: { name: 'test/echo' },
      execution: { mode: 'subprocess', wall: 'jail' },
    });
  });

  test('accepts the slash of an id as it is or encoded', async () => {
    expect((await stage.execute('test%2Fecho')).status).toBe(200);
  });

  test.each([
    ['test/fails', 422, 'skill_error'],
    ['test/sleepy', 504, 'resource_exceeded'],
    ['test/nosy', 403, 'capability_denied'],
    ['test/asked', 403, 'approval_required'],
    ['test/broken', 409, 'manifest_invalid'],
    ['test/unknown', 404, 'skill_unavailable'],
    ['%2e%2e%2fskills%2ftest%2fecho', 404, 'skill_unavailable'],
    ['%2Fetc', 404, 'skill_unavailable'],
  ])('of %s returns %i and %s', async (skill, status, code) => {
    expect(await answer(stage.execute(skill))).toMatchObject({ status, body: refused(code) });
  });

  test('reports what was denied', async () => {
    const { body } = await answer(stage.execute('test/nosy'));
    expect(body).toMatchObject({
      capabilities: { denied: [{ capability: 'filesystem', asked: 'read /etc/hostname' }] },
    });
  });

  test('can lower its limits and change nothing else', async () => {
    const lowered = stage.execute('test/sleepy', {}, { json: { timeout: '100ms' } });
    expect(await answer(lowered)).toMatchObject({ body: { error: { detail: { allowed: 100 } } } });
    const raised = stage.execute('test/sleepy', {}, { json: { timeout: '9s' } });
    expect(await answer(raised)).toMatchObject({ body: { error: { detail: { allowed: 300 } } } });
    for (const json of [
      { execution: 'in_process' },
      { workspace: '/' },
      { trustRemoteCode: true },
      { allowEnv: ['AWS_KEY'] },
    ])
      expect((await stage.execute('test/echo', {}, { json })).status).toBe(400);
  });

  test('of a skill that cannot be loaded still has a receipt', async () => {
    await stage.execute('test/broken');
    const { body } = await answer(stage.ask('/v1/receipts?code=manifest_invalid', { as: 'reader' }));
    const receipt = { caller: 'http:acme:caller', skill: { name: 'test/broken' } };
    expect((body as { receipts: unknown[] }).receipts[0]).toMatchObject({ receipt });
    expect(JSON.stringify(body)).not.toContain(stage.folder);
  });

  test('uses the current version of a skill', async () => {
    const file = join(stage.folder, 'skills/test/fails/skill.py');
    const before = readFileSync(file, 'utf8');
    writeFileSync(file, 'def execute(params):\n    return "mended"');
    await expect
      .poll(() => answer(stage.execute('test/fails')))
      .toMatchObject({ body: { result: 'mended' } });
    writeFileSync(file, before);
  });
});

describe('the trace of a caller', () => {
  test('continues in the call', async () => {
    const [traceId, spanId] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331'];
    const exporter = new InMemorySpanExporter();
    const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
    trace.setGlobalTracerProvider(provider);
    propagation.setGlobalPropagator({
      inject: () => undefined,
      extract: (context, carrier, getter) => {
        const [, id = '', parent = ''] = String(getter.get(carrier, 'traceparent')).split('-');
        return trace.setSpanContext(context, { traceId: id, spanId: parent, traceFlags: 1, isRemote: true });
      },
      fields: () => ['traceparent'],
    });
    await stage.execute('test/echo', {}, { headers: { traceparent: `00-${traceId}-${spanId}-01` } });
    const spans = exporter.getFinishedSpans();
    expect(spans.map((span) => span.parentSpanContext?.spanId)).toContain(spanId);
    expect(spans[0]?.spanContext().traceId).toBe(traceId);
    trace.disable();
    propagation.disable();
  });
});

describe('an HTTP request', () => {
  const post = (path: string, options: Ask & { body?: string }): Promise<Response> =>
    fetch(`${stage.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stage.tokens['caller']}`, ...(options.headers as object) },
      ...(options.body === undefined ? {} : { body: options.body }),
    });
  const path = '/v1/skills/test/echo/execute';
  const headers = { 'content-type': 'application/json' };

  test.each([
    ['no JSON', { headers, body: '{' }, 400],
    ['no JSON by its type', { headers: { 'content-type': 'text/plain' }, body: '{}' }, 415],
    ['an unknown key', { headers, body: '{"parameters": {}}' }, 400],
    ['more than is allowed', { headers, body: JSON.stringify({ params: 'x'.repeat(10_000) }) }, 413],
  ])('with %s is refused', async (_, options, status) => {
    expect(await answer(post(path, options))).toMatchObject({ status, body: refused('usage') });
  });

  test('without a length is cut off at the limit', async () => {
    const body = new ReadableStream({
      pull: (controller) => controller.enqueue(new TextEncoder().encode(' '.repeat(5000))),
    });
    const auth = { authorization: `Bearer ${stage.tokens['caller']}`, ...headers };
    const sent = fetch(`${stage.url}${path}`, { method: 'POST', headers: auth, body, duplex: 'half' });
    // A client that keeps sending may see the connection close before the answer.
    const status = await sent.then((response) => response.status).catch(() => 413);
    expect(status).toBe(413);
  });

  test('with a length and a transfer encoding is refused, so no body is longer than its length', async () => {
    const { hostname, port } = new URL(stage.url);
    const socket = connect(Number(port), hostname);
    const lines = [
      ...[`POST ${path} HTTP/1.1`, `Host: ${hostname}`, `Authorization: Bearer ${stage.tokens['caller']}`],
      ...['Content-Type: application/json', 'Content-Length: 2', 'Transfer-Encoding: chunked'],
    ];
    socket.write(`${lines.join('\r\n')}\r\n\r\n3a98\r\n${' '.repeat(15_000)}\r\n0\r\n\r\n`);
    const received = await socket.toArray();
    expect(Buffer.concat(received as Buffer[]).toString()).toMatch(/^HTTP\/1\.1 400 Bad Request/);
  });

  test('for the head of an answer gets no body', async () => {
    const response = await fetch(`${stage.url}/healthz`, { method: 'HEAD' });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(await response.text()).toBe('');
  });

  test('to an unknown path gets an error that refers to the API document', async () => {
    expect(await answer(stage.ask('/v2', { as: 'admin' }))).toMatchObject({
      status: 404,
      body: { error: { fix: expect.stringContaining('/openapi.json') as string } },
    });
  });

  test.each([
    'evil.example',
    'evil.example:80',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'skillcell',
  ])('for the host "%s" is refused, because the name may have been rebound', async (host) => {
    expect(await statusFor(stage.url, host)).toBe(421);
  });

  test.each(['localhost', 'localhost:9', '127.0.0.1:1', '[::1]:80', 'LOCALHOST.'])(
    'for the host "%s" is answered',
    async (host) => expect(await statusFor(stage.url, host)).toBe(200),
  );
});

function statusFor(url: string, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request(`${url}/healthz`, { headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on('error', reject)
      .end();
  });
}

describe('a token', () => {
  const routes: [string, string, string[]][] = [
    ['GET', '/v1/skills/test/echo', ['caller', 'reader', 'admin']],
    ['POST', '/v1/skills/test/none/execute', ['caller', 'admin']],
    ['GET', '/v1/calls', ['reader', 'admin']],
    ['GET', '/v1/receipts', ['reader', 'admin']],
    ['GET', '/v1/receipts/verify', ['admin']],
    ['GET', '/v1/stats', ['reader', 'admin']],
    ['GET', '/metrics', ['metrics', 'admin']],
    ['GET', '/v1/machine', ['reader', 'admin']],
    ['PUT', '/v1/skills/test/none/approval', ['admin']],
    ['DELETE', '/v1/skills/test/none/approval', ['admin']],
    ['DELETE', '/v1/calls/none', ['caller', 'admin']],
  ];

  test.each(routes)('with the right scope is needed for %s %s', async (method, path, allowed) => {
    const json = ['POST', 'PUT'].includes(method) ? {} : undefined;
    const none = await stage.ask(path, { method, json });
    expect(none.status).toBe(401);
    expect(none.headers.get('www-authenticate')).toContain('Bearer');
    for (const as of ['caller', 'reader', 'metrics', 'admin']) {
      const { status } = await stage.ask(path, { method, json, as });
      if (allowed.includes(as)) expect([200, 400, 404]).toContain(status);
      else expect(status).toBe(403);
    }
  });

  test.each(['wrong', '', 'sct_'])('"%s" is not accepted', async (as) => {
    expect((await stage.ask('/v1/skills', { as })).status).toBe(401);
  });

  test('is not needed for the liveness check', async () => {
    expect(await answer(stage.ask('/healthz'))).toMatchObject({ status: 200, body: { status: 'ok' } });
  });
});

describe('a tenant', () => {
  test('sees its own receipts and calls, and an admin sees all', async () => {
    const { body } = await answer(stage.execute('test/echo', { whose: 'acme' }));
    const id = (body as { call_id: string }).call_id;
    await stage.execute('test/echo', {}, { as: 'other' });
    const callers = async (as: string): Promise<Set<string>> => {
      const list = (await answer(stage.ask('/v1/receipts', { as }))).body;
      const { receipts } = list as { receipts: { receipt: { caller: string } }[] };
      return new Set(receipts.map(({ receipt }) => receipt.caller));
    };
    expect(await callers('reader')).toEqual(new Set(['http:acme:caller']));
    expect(await callers('other')).toEqual(new Set(['http:umbrella:other']));
    expect((await callers('admin')).size).toBe(2);
    expect((await stage.ask(`/v1/receipts/${id}`, { as: 'reader' })).status).toBe(200);
    expect((await stage.ask(`/v1/receipts/${id}`, { as: 'other' })).status).toBe(404);
    expect((await stage.ask(`/v1/calls/${id}`, { as: 'other' })).status).toBe(404);
    expect(await answer(stage.ask(`/v1/calls/${id}`, { as: 'reader' }))).toMatchObject({
      body: { state: 'ended', receipt: { receipt: { call_id: id, skill: { name: 'test/echo' } } } },
    });
  });
});

describe('the receipts that a tenant sees', () => {
  interface Listed {
    receipts: { receipt: { call_id: string; caller: string } }[];
    older?: string;
  }
  const list = async (query: string, as: string): Promise<Listed> =>
    (await answer(stage.ask(`/v1/receipts${query}`, { as }))).body as Listed;
  const shownTo = async (as: string, id: string): Promise<string> => {
    const paths = [`/v1/receipts/${id}`, `/v1/calls/${id}`, '/v1/receipts?limit=1', '/v1/calls?limit=1'];
    const answers = await Promise.all(paths.map((path) => stage.ask(path, { as })));
    return (await Promise.all(answers.map((one) => one.text()))).join('\n');
  };

  test('do not reveal whether or how often others call', async () => {
    const { body } = await answer(stage.execute('test/echo', {}, { as: 'other' }));
    const { call_id: id } = body as { call_id: string };
    const before = await shownTo('other', id);
    // The hash covers the hash before it: two of one's own show whether there was one between them.
    for (const field of ['"seq"', '"hash"']) expect(before).not.toContain(field);
    for (let n = 0; n < 5; n++) await stage.execute('test/echo');
    expect(await shownTo('other', id)).toBe(before);
    for (const field of ['"seq"', '"hash"']) expect(await shownTo('admin', id)).toContain(field);
    expect((await stage.ask('/metrics', { as: 'other' })).status).toBe(403);
  });

  test('come in pages, without gaps for the receipts of others', async () => {
    for (let n = 0; n < 3; n++) {
      await stage.execute('test/echo', {}, { as: 'other' });
      await stage.execute('test/echo');
    }
    const all = (await list('?limit=500', 'other')).receipts.map(({ receipt }) => receipt.call_id);
    const paged: string[] = [];
    let page = await list('?limit=2', 'other');
    for (; page.receipts.length > 0; page = await list(`?limit=2&before=${page.older}`, 'other')) {
      paged.push(...page.receipts.map(({ receipt }) => receipt.call_id));
      if (page.older === undefined) break;
    }
    expect(paged).toEqual(all);
    const [theirs] = (await list('?limit=1', 'reader')).receipts;
    const foreign = await stage.ask(`/v1/receipts?before=${theirs?.receipt.call_id}`, { as: 'other' });
    expect(foreign.status).toBe(400);
  });
});

describe('an approval over HTTP', () => {
  const path = '/v1/skills/test/asked/approval';
  const digestOf = async (): Promise<string> => {
    const { body } = await answer(stage.ask('/v1/skills/test/asked', { as: 'admin' }));
    return (body as { digest: string }).digest;
  };

  test('needs an admin, covers exactly what was inspected, and can be revoked', async () => {
    const digest = await digestOf();
    const put = (as: string, json: unknown): Promise<Response> =>
      stage.ask(path, { method: 'PUT', as, json });
    expect((await put('both', { digest })).status).toBe(403);
    expect((await put('admin', { digest: `sha256:${'0'.repeat(64)}` })).status).toBe(409);
    expect((await stage.execute('test/asked')).status).toBe(403);
    expect(await answer(put('admin', { digest }))).toMatchObject({
      status: 200,
      body: { digest, by: 'http:operators:admin' },
    });
    expect((await stage.execute('test/asked')).status).toBe(200);
    expect((await stage.ask(path, { method: 'DELETE', as: 'both' })).status).toBe(403);
    expect(await answer(stage.ask(path, { method: 'DELETE', as: 'admin' }))).toMatchObject({
      body: { removed: 1 },
    });
    expect((await stage.execute('test/asked')).status).toBe(403);
  });
});
