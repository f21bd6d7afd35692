/**
 * Skills that send requests to a server of the test, with the same answers in Wasm and in a jail.
 */
import type { RequestListener } from 'node:http';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Skill } from '../../src/index.ts';
import type { TestRuntime } from '../cell/test-runtime.ts';
import { copySource, editManifest } from './copy-skill.ts';
import { openWithServer, type WithServer } from './with-server.ts';

const KEY = 'invented-key-0123456789';
const ADDRESS = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const BLOCKED = '0x00000000000000000000000000000000badc0ffe';
const MODES = ['wasm', 'subprocess'] as const;

const PAGE = `<!doctype html><html lang="en-GB"><head><!-- <title>Comment</title> -->
<script>document.write("<title>Script</title>")</script>
<title>
  Tea &amp; b&#x65;ans &#8212; a &quot;page&quot; </title><title>Second</title>
<meta name="description" content='About > "tea"'><meta property="og:site_name" content="Example">
<link rel="canonical" href="/tea"></head><body><h1>First <em>heading</em></h1><h2></h2><h2>Second</h2>
<svg><title>Drawing</title></svg><h3>Third</h3></body></html>`;

const PAGES: Readonly<Record<string, [status: number, type: string, body: string]>> = {
  '/page': [200, 'text/html; charset=utf-8', PAGE],
  '/gone': [404, 'text/html', '<title>Not here</title>'],
  '/open': [200, 'text/html', '<title>Never closed'],
  '/bare': [200, 'text/html', '<p>No title</p>'],
  '/data': [200, 'application/json', '{"title": "<title>no</title>"}'],
  '/broken': [200, 'text/html', `${'<'.repeat(50_000)}<title>After</title><a href="${'x'.repeat(50_000)}`],
};

let opened: TestRuntime;
let close: WithServer['close'];
let port: number;
const asked: string[] = [];

const answer: RequestListener = (request, response) => {
  const url = new URL(request.url ?? '/', 'http://127.0.0.1');
  asked.push(`${request.method} ${request.url}`);
  if (url.pathname === '/v2/api') return response.end(JSON.stringify(etherscan(url.searchParams)));
  if (url.pathname === '/moved') return response.writeHead(302, { location: '/page#part' }).end();
  if (url.pathname === '/away') return response.writeHead(301, { location: 'http://192.0.2.7/' }).end();
  if (url.pathname === '/loop') return response.writeHead(302, { location: '/loop' }).end();
  const [status, type, body] = PAGES[url.pathname] ?? [404, 'text/plain', 'none'];
  return response.writeHead(status, { 'content-type': type }).end(body);
};

function etherscan(query: URLSearchParams): object {
  if (query.get('apikey') !== KEY) return { status: '0', message: 'NOTOK', result: 'Invalid API Key' };
  if (query.get('action') === 'balance') return { status: '1', message: 'OK', result: '42' };
  return {
    status: '1',
    message: 'OK',
    result: [
      { from: ADDRESS.toLowerCase(), to: BLOCKED },
      { from: BLOCKED, to: ADDRESS.toLowerCase() },
      { from: ADDRESS.toLowerCase(), to: '' },
    ],
  };
}

beforeAll(async () => {
  ({ opened, port, close } = await openWithServer(answer, { env: { ETHERSCAN_API_KEY: KEY } }));
});
afterAll(() => close());

const url = (path: string): string => `http://127.0.0.1:${port}${path}`;

describe.each(MODES)('web/fetch_title in %s', (execution) => {
  let skill: Skill;

  beforeAll(async () => {
    const dir = copySource('web/fetch_title', join(opened.folder, execution));
    const rule = `{ host: 127.0.0.1, port: ${port}, scheme: http, methods: [GET] }`;
    editManifest(dir, (text) => text.replace('{ host: example.com, methods: [GET] }', rule));
    // Without https, which would need TLS inspection in a jail.
    editManifest(dir, (text) => text.replaceAll(/^ {4}- \{ host: "?(?!127)[^\n]*\n/gm, ''));
    skill = await opened.runtime.load(dir);
  });

  const fetched = async (path: string, more: object = {}): Promise<Record<string, unknown>> => {
    const { result } = await opened.runtime.execute(skill, { url: url(path), ...more }, { execution });
    return result as Record<string, unknown>;
  };

  test('returns the title and metadata of a page', async () => {
    expect(await fetched('/page')).toEqual({
      url: url('/page'),
      status: 200,
      content_type: 'text/html; charset=utf-8',
      redirects: [],
      title: 'Tea & beans — a "page"',
      description: 'About > "tea"',
      site_name: 'Example',
      language: 'en-GB',
      canonical: url('/tea'),
      headings: ['First heading', 'Second', 'Third'],
    });
    expect(await fetched('/page', { headings: 1 })).toMatchObject({ headings: ['First heading'] });
  });

  test.each([
    ['/gone', { status: 404, title: 'Not here' }],
    ['/open', { title: 'Never closed' }],
    ['/bare', { title: '', headings: [] }],
    ['/data', { title: '', content_type: 'application/json' }],
    ['/broken', { title: 'After' }],
  ])('handles %s', async (path, expected) => {
    expect(await fetched(path)).toMatchObject(expected);
  });

  test('follows a redirect and reports it', async () => {
    const found = await fetched('/moved#here');
    expect(found).toMatchObject({ url: url('/page'), redirects: [url('/moved')] });
  });

  test('does not follow a redirect to a host that is not granted', async () => {
    const options = { execution, reject: false } as const;
    const outcome = await opened.runtime.execute(skill, { url: url('/away') }, options);
    expect(outcome).toMatchObject({ ok: false, error: { code: 'capability_denied' } });
    expect(JSON.stringify(outcome.capabilities.denied)).toContain('192.0.2.7');
  });

  test('stops at a redirect loop', async () => {
    const options = { execution, reject: false } as const;
    const outcome = await opened.runtime.execute(skill, { url: url('/loop') }, options);
    expect(outcome).toMatchObject({ ok: false, error: { code: 'skill_error' } });
    expect(JSON.stringify(outcome)).toContain('more than 5 times');
  });
});

describe.each(MODES)('finance/wallet_screening in %s', (execution) => {
  let skill: Skill;

  beforeAll(async () => {
    const dir = copySource('finance/wallet_screening', join(opened.folder, execution));
    const rule = `{ host: 127.0.0.1, port: ${port}, scheme: http, methods: [GET], paths: ["/v2/api"] }`;
    editManifest(dir, (text) =>
      text
        .replace('{ host: api.etherscan.io, methods: [GET], paths: ["/v2/api"] }', rule)
        .replace('hosts: [api.etherscan.io]', 'hosts: [127.0.0.1]'),
    );
    const file = join(dir, 'chain.py');
    writeFileSync(file, readFileSync(file, 'utf8').replace('https://api.etherscan.io', url('')));
    skill = await opened.runtime.load(dir);
    // The first use of Python in Wasm prepares the engine, which takes a while.
    await opened.runtime.plan(skill, { execution });
  });

  test('screens counterparties, and only the server gets the key', async () => {
    asked.length = 0;
    const params = { address: ADDRESS, live: true };
    const outcome = await opened.runtime.execute(skill, params, { execution });
    expect(outcome.result).toMatchObject({
      verdict: 'review',
      exposure: { transactions: 3, counterparties: 1, balance_wei: '42' },
      hits: [{ severity: 'block', relation: 'counterparty in 2 of the latest transactions' }],
    });
    expect(asked).toHaveLength(2);
    expect(asked.every((line) => line.includes(`apikey=${KEY}`))).toBe(true);
    expect(JSON.stringify(outcome)).not.toContain(KEY);
  });
});
