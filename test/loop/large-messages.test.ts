/**
 * Large messages of MCP clients over HTTP: a worker thread parses them, and their arguments reach the cell as text.
 */
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MAX_JSON_HERE } from '../../src/json-text.ts';
import { serveOverHttp, type HttpService } from '../../src/mcp/http/serve-http.ts';
import { SkillServer } from '../../src/mcp/skill-server.ts';
import { openTestRuntime } from '../cell/test-runtime.ts';
import { clientOf, ERAS } from '../mcp/project.ts';
import { writeSkill } from '../write-skill.ts';

const { runtime, folder, close } = openTestRuntime();
const VALUE = Object.fromEntries(Array.from({ length: 3000 }, (_, n) => [`k${n}`, [n, `"\\ü${n}`]]));
const servers: { skills: SkillServer; http: HttpService }[] = [];

async function serve(searchOver?: number): Promise<HttpService> {
  const skills = new SkillServer({ runtime, ...(searchOver === undefined ? {} : { searchOver }) });
  const http = await serveOverHttp(skills, { port: 0, onNote: () => undefined });
  servers.push({ skills, http });
  return http;
}

let listed: HttpService;
let searched: HttpService;

beforeAll(async () => {
  writeSkill(folder, {
    id: 'test/echo',
    files: { 'skill.js': 'export const execute = (params) => params;' },
    manifest: { execution: ['wasm'] },
  });
  listed = await serve(10_000);
  searched = await serve(0);
});
afterAll(async () => {
  for (const { http } of servers) await http.close();
  await close();
});

const done = (task: string): number => runtime.offloaded.done[task] ?? 0;
const headersOf = ({ token }: HttpService): Record<string, string> => ({ authorization: `Bearer ${token}` });
const post = (body: string): Promise<Response> =>
  fetch(listed.url, {
    method: 'POST',
    body,
    headers: {
      ...headersOf(listed),
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
  });

describe.each(ERAS)('an MCP client of %s', (era) => {
  test('calls a tool with large arguments, which only worker threads parse', async () => {
    const client = clientOf(era);
    await client.connect(
      new StreamableHTTPClientTransport(new URL(listed.url), { requestInit: { headers: headersOf(listed) } }),
    );
    const [split, checked] = [done('splitMessage'), done('checkParams')];
    const { structuredContent } = await client.callTool({ name: 'test__echo', arguments: VALUE });
    expect(structuredContent).toEqual(VALUE);
    expect([done('splitMessage'), done('checkParams')]).toEqual([split + 1, checked + 1]);
    const { structuredContent: small } = await client.callTool({ name: 'test__echo', arguments: { a: 1 } });
    expect(small).toEqual({ a: 1 });
    expect([done('splitMessage'), done('checkParams')]).toEqual([split + 1, checked + 1]);
    await client.close();
  });

  test('calls a skill found by search with large arguments', async () => {
    const client = clientOf(era);
    await client.connect(
      new StreamableHTTPClientTransport(new URL(searched.url), {
        requestInit: { headers: headersOf(searched) },
      }),
    );
    const call = (name: string, given: Record<string, unknown>): ReturnType<typeof client.callTool> =>
      client.callTool({ name, arguments: given });
    const { structuredContent } = await call('skillcell_call', { name: 'test__echo', arguments: VALUE });
    expect(structuredContent).toEqual(VALUE);
    const wrong = await call('skillcell_call', { name: 'test__echo', arguments: VALUE, approve: true });
    expect(JSON.stringify(wrong)).toContain('invalid_params');
    const search = await call('skillcell_search', { query: 'x'.repeat(MAX_JSON_HERE) });
    expect(JSON.stringify(search)).toContain('too large');
    await client.close();
  });
});

describe('a large message over HTTP', () => {
  const padding = 'x'.repeat(MAX_JSON_HERE);
  test.each([
    ['is no JSON', `{"jsonrpc":"2.0","params":{"arguments":"${padding}`, 'Parse error'],
    [
      'is large beside its arguments',
      `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"${padding}"}}`,
      'outside params.arguments',
    ],
    [
      'is nested without end',
      `{"params":{"arguments":${'['.repeat(40_000)}${']'.repeat(40_000)}}}`,
      'nested',
    ],
  ])('is refused if it %s', async (_, body, words) => {
    const before = done('splitMessage');
    const response = await post(body);
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining(words)]);
    expect(done('splitMessage')).toBe(before + 1);
  });

  test('cannot get the arguments of another by forging their stand-in', async () => {
    const client = clientOf('2026-07-28');
    await client.connect(
      new StreamableHTTPClientTransport(new URL(listed.url), { requestInit: { headers: headersOf(listed) } }),
    );
    const forged = { 'skillcell/large': '00000000-0000-4000-8000-000000000000' };
    const { structuredContent } = await client.callTool({ name: 'test__echo', arguments: forged });
    expect(structuredContent).toEqual(forged);
    await client.close();
  });
});
