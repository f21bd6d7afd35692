/**
 * fetch reaches declared hosts through the broker, and no others.
 *
 * @module
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parsePolicy } from '../../../../src/index.ts';
import type { Outcome } from '../../../../src/outcome.ts';
import { openJsBench } from './js-bench.ts';

const policy = parsePolicy('network: { allow_private: ["127.0.0.1"] }', { file: 'policy' });
const bench = openJsBench({ policy, env: { API_KEY: 'an invented key of a test' } });
const seen: string[] = [];
/** Requests that are answered only when all of them have arrived. */
const together: (() => unknown)[] = [];
const TOGETHER = 4;
const server: Server = createServer((request, response) => {
  seen.push(`${request.method} ${request.url}`);
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const moved = { '/api/moved': '/api/here', '/api/out': '/private' }[request.url ?? ''];
    if (moved) return response.writeHead(302, { location: moved }).end();
    const answer = (): unknown =>
      response
        .writeHead(request.url === '/api/missing' ? 404 : 200, {
          'x-answer': 'yes',
          'set-cookie': ['a=1', 'b=2'],
        })
        .end(JSON.stringify({ headers: request.headers, body: Buffer.concat(chunks).toString('latin1') }));
    if (request.url === '/api/together') {
      together.push(answer);
      return together.length < TOGETHER ? undefined : together.splice(0).forEach((one) => one());
    }
    return request.url === '/api/slow' ? setTimeout(answer, 300) : answer();
  });
});
let skill = '';
let port = 0;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ({ port } = server.address() as AddressInfo);
  const network = [{ host: '127.0.0.1', port, scheme: 'http', methods: ['GET', 'POST'], paths: ['/api/*'] }];
  skill = bench.skill({
    manifest: {
      capabilities: { network },
      env_vars: { API_KEY: { secret: true, required: true, hosts: ['127.0.0.1'] } },
    },
    entry: 'skill.js',
    // One skill evaluates code from its parameters, so that tests need no files of their own.
    source: `
      export function execute({ code, url }) {
        return new Function('url', 'return (async () => {' + code + '})()')(url);
      }
    `,
  });
});

afterAll(async () => {
  server.close();
  await bench.close();
});

const attempt = (code: string): Promise<Outcome> =>
  bench.run(skill, { code, url: `http://127.0.0.1:${port}` });

async function run(code: string): Promise<unknown> {
  const outcome = await attempt(code);
  if (!outcome.ok) expect.fail(`${outcome.error.code}: ${outcome.error.message}`);
  return outcome.result;
}

test('a request gets its response', async () => {
  const code = `
    const r = await fetch(url + '/api/here?q=1#part', { headers: { 'X-Own': 'ü' } });
    const { headers } = await r.clone().json();
    return [r.ok, r.status, r.headers.get('X-Answer'), r.headers.getSetCookie(), r.url, headers['x-own'], (await r.text()).length > 10];
  `;
  const url = `http://127.0.0.1:${port}/api/here?q=1#part`;
  expect(await run(code)).toMatchObject([true, 200, 'yes', ['a=1', 'b=2'], url, expect.any(String), true]);
  expect(seen.at(-1)).toBe('GET /api/here?q=1');
});

test('text, bytes and forms are sent as bodies', async () => {
  const code = `
    const answers = [];
    for (const body of ['hä', new Uint8Array([0, 255]), new URLSearchParams({ a: 'b c' })]) {
      const r = await (await fetch(new Request(url + '/api/x', { method: 'POST', body }))).json();
      answers.push([r.body, r.headers['content-type'] ?? null]);
    }
    return answers;
  `;
  expect(await run(code)).toEqual([
    ['h\u00c3\u00a4', 'text/plain;charset=UTF-8'],
    ['\u0000\u00ff', null],
    ['a=b+c', 'application/x-www-form-urlencoded;charset=UTF-8'],
  ]);
});

test('an error status does not throw, and a body can be read only once', async () => {
  const code = `
    const r = await fetch(url + '/api/missing');
    await r.text();
    return [r.ok, r.status, await r.text().catch((e) => e.name)];
  `;
  expect(await run(code)).toEqual([false, 404, 'TypeError']);
});

test('concurrent requests run in parallel', async () => {
  const code = `
    const all = await Promise.all(Array.from({ length: ${TOGETHER} }, () => fetch(url + '/api/together')));
    return all.map((r) => r.status);
  `;
  expect(await run(code)).toEqual([200, 200, 200, 200]);
});

test('each redirect is checked as a separate request', async () => {
  expect(
    await run(`const r = await fetch(url + '/api/moved'); return [r.redirected, new URL(r.url).pathname]`),
  ).toEqual([true, '/api/here']);
  expect(await run(`return (await fetch(url + '/api/moved', { redirect: 'manual' })).status`)).toBe(302);
  const outcome = await attempt(`return (await fetch(url + '/api/out')).status`);
  expect(outcome).toMatchObject({ ok: false, error: { code: 'capability_denied' } });
  expect(seen).not.toContain('GET /private');
});

test('a skill can abort a request', async () => {
  const code = `return await fetch(url + '/api/slow', { signal: AbortSignal.timeout(20) }).catch((e) => e.name)`;
  expect(await run(code)).toBe('TimeoutError');
});

test('a request that no rule covers is denied with the same message as in other engines', async () => {
  const outcome = await attempt(`await fetch(url + '/private/x?key=1', { method: 'DELETE' })`);
  const asked = `DELETE http://127.0.0.1:${port}/private/x`;
  expect(outcome).toMatchObject({
    ok: false,
    error: { code: 'capability_denied', detail: { capability: 'network', asked } },
  });
  expect(outcome.capabilities.denied).toEqual([expect.objectContaining({ capability: 'network', asked })]);
});

test('a secret is used without being visible to the skill', async () => {
  const code = `
    const key = process.env.API_KEY;
    const { headers } = await (await fetch(url + '/api/x', { headers: { authorization: 'Bearer ' + key } })).json();
    return [key.includes('invented'), headers.authorization.includes('invented')];
  `;
  // The server's response is scrubbed before the skill sees it.
  expect(await run(code)).toEqual([false, false]);
});

test.each([
  'ftp://127.0.0.1/',
  'file:///etc/passwd',
  'nonsense',
  'data:,x',
  'http://user:pass@127.0.0.1/api/x',
])('fetch rejects the address %s', async (address) => {
  expect(await run(`return await fetch(${JSON.stringify(address)}).catch((e) => e.name)`)).toBe('TypeError');
});
