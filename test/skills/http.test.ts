/**
 * Skills that send requests to a web server: the bundled one through `wasi:http`, and one through `fetch` of the host.
 */
import { cpSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildSkill } from '../../src/inside.ts';
import { openCommandLine } from '../cli/command.ts';
import type { TestRuntime } from '../cell/test-runtime.ts';
import { bundled, copyHostFetch, copySource, editManifest } from './copy-skill.ts';
import { openWithServer, type WithServer } from './with-server.ts';

const PLAIN = 'text/plain; charset=utf-8';
const LARGE_BYTES = 300_000;

let opened: TestRuntime;
let close: WithServer['close'];
let port: number;
/** The requests that the server received in a test. */
const asked: string[] = [];

const answer: RequestListener = (request, response) => {
  asked.push(`${request.method} ${request.url}`);
  if (request.url === '/moved') return response.writeHead(302, { location: '/here' }).end();
  if (request.url === '/large') return response.end(Buffer.alloc(LARGE_BYTES, 'x'));
  if (request.url === '/broken') {
    response.writeHead(200, { 'content-length': '100' }).write('less than promised');
    return setImmediate(() => response.destroy());
  }
  const status = request.url?.startsWith('/here') ? 200 : 404;
  return response.writeHead(status, { 'content-type': PLAIN }).end('eleven byte');
};

beforeAll(async () => {
  ({ opened, port, close } = await openWithServer(answer));
});
afterAll(() => close());

const url = (path: string): string => `http://127.0.0.1:${port}${path}`;

function nameServer(dir: string): void {
  editManifest(dir, (text) =>
    text.replace('example.com, port: 443, scheme: https', `127.0.0.1, port: ${port}, scheme: http`),
  );
}

function builtForServer(dir: string): string {
  nameServer(dir);
  buildSkill(dir);
  return dir;
}

function withoutNetwork(dir: string): string {
  editManifest(dir, (text) => text.replace(/capabilities:\n {2}network:\n.*\n/, 'capabilities: {}\n'));
  buildSkill(dir);
  return dir;
}

describe('web/fetch_status', () => {
  let skill: string;

  beforeAll(() => {
    skill = builtForServer(copySource('web/fetch_status', opened.folder));
  });

  test.each([
    ['/here', { status: 200, content_type: PLAIN, body_bytes: 11 }],
    ['/nowhere', { status: 404, content_type: PLAIN, body_bytes: 11 }],
    ['/large', { status: 200, content_type: '', body_bytes: LARGE_BYTES }],
  ])('requests %s', async (path, expected) => {
    const { result } = await opened.runtime.execute(skill, { url: url(path) });
    expect(result).toEqual({ url: url(path), ...expected });
  });

  test('returns the expected result with the committed binary', async () => {
    const dir = copySource('web/fetch_status', join(opened.folder, 'committed'));
    nameServer(dir);
    cpSync(bundled('web/fetch_status/skill.wasm'), join(dir, 'skill.wasm'));
    const { result } = await opened.runtime.execute(dir, { url: url('/here') });
    expect(result).toEqual({ url: url('/here'), status: 200, content_type: PLAIN, body_bytes: 11 });
  });

  test('sends the query but not the fragment', async () => {
    asked.length = 0;
    await opened.runtime.execute(skill, { url: url('/here?a=1&b=%20#part') });
    await opened.runtime.execute(skill, { url: url('?a') });
    expect(asked).toEqual(['GET /here?a=1&b=%20', 'GET /?a']);
  });

  test('does not follow a redirect', async () => {
    asked.length = 0;
    const { result } = await opened.runtime.execute(skill, { url: url('/moved') });
    expect(result).toMatchObject({ status: 302, body_bytes: 0 });
    expect(asked).toEqual(['GET /moved']);
  });

  test.each(['file:///etc/passwd', 'http://user@127.0.0.1/', 'http://127.0.0.1/a b'])(
    'refuses %s',
    async (address) => {
      const outcome = await opened.runtime.execute(skill, { url: address }, { reject: false });
      expect(outcome).toMatchObject({ ok: false, error: { code: 'skill_error' } });
      expect(JSON.stringify(outcome)).toContain('is no address of http or https');
    },
  );

  test('reports that the response was truncated', async () => {
    const outcome = await opened.runtime.execute(skill, { url: url('/broken') }, { reject: false });
    expect(outcome).toMatchObject({ ok: false, error: { code: 'skill_error' } });
    expect(JSON.stringify(outcome)).toContain('The answer broke off');
  });

  test('is denied a host that the manifest does not declare', async () => {
    asked.length = 0;
    const params = { url: url('/here') };
    const outcome = await opened.runtime.execute(bundled('web/fetch_status'), params, { reject: false });
    expect(outcome).toMatchObject({ ok: false, error: { code: 'capability_denied' } });
    expect(outcome.capabilities.denied).toHaveLength(1);
    expect(asked).toEqual([]);
  });

  test('makes the command line exit with 3 if it is denied', async () => {
    const line = openCommandLine();
    try {
      const params = JSON.stringify({ url: url('/here') });
      const { code, stderr } = await line.run(['run', bundled('web/fetch_status'), '--params', params]);
      expect(code).toBe(3);
      expect(stderr).toContain('error[capability_denied]');
    } finally {
      line.close();
    }
  });

  test('does not load if the manifest declares no network, and the error names what the binary imports', async () => {
    const dir = withoutNetwork(copySource('web/fetch_status', join(opened.folder, 'without')));
    await expect(opened.runtime.load(dir)).rejects.toMatchObject({
      code: 'manifest_drift',
      message: expect.stringContaining('wasi:http/outgoing-handler@0.2.0') as unknown,
    });
  });
});

describe('the error for a locked skill with a changed manifest', () => {
  test('names the lock and what the locked binary imports', async () => {
    const dir = join(opened.folder, 'locked', 'fetch_status');
    cpSync(bundled('web/fetch_status'), dir, { recursive: true });
    await expect(opened.runtime.load(withoutNetwork(dir))).rejects.toMatchObject({
      code: 'manifest_drift',
      message: expect.stringMatching(/skill\.lock.*wasi:http\/outgoing-handler@0\.2\.0/) as unknown,
    });
  });
});

describe('a skill with the fetch of the host', () => {
  test('requests a page', async () => {
    const skill = builtForServer(copyHostFetch(opened.folder));
    const { result } = await opened.runtime.execute(skill, { url: url('/here') });
    expect(result).toEqual({ url: url('/here'), status: 200, content_type: PLAIN, body_bytes: 11 });
  });

  test('does not load if the manifest declares no network', async () => {
    const dir = withoutNetwork(copyHostFetch(join(opened.folder, 'without')));
    await expect(opened.runtime.load(dir)).rejects.toMatchObject({
      code: 'manifest_drift',
      message: expect.stringContaining('skillcell:skill/host@0.1.0#fetch') as unknown,
    });
  });
});
