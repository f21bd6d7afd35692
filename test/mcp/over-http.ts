/**
 * The real process over HTTP.
 *
 * @module
 */
import { once } from 'node:events';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { request, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { StreamableHTTPClientTransport, type Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openCommandLine } from '../cli/command.ts';
import { runConformance } from './conformance.ts';
import { describeContract, textOf } from './contract.ts';
import {
  clientOf,
  ERAS,
  slowCall,
  startHttp,
  until,
  type Era,
  type HttpProcess,
  type Project,
} from './project.ts';

const TOKEN = 'an-invented-token-of-32-characters';

export function describeHttp(project: Project): void {
  let open: HttpProcess;
  let guarded: HttpProcess;

  beforeAll(async () => {
    const file = join(project.folder, 'token');
    writeFileSync(file, `${TOKEN}\n`);
    [open, guarded] = await Promise.all([
      startHttp(project, '--no-token'),
      startHttp(project, '--host', '0.0.0.0', '--token-file', file, '--search-over', '3'),
    ]);
  });

  afterAll(async () => {
    for (const { child } of [open, guarded]) {
      child.kill('SIGTERM');
      expect(await once(child, 'exit')).toEqual([0, null]);
    }
  });

  describe.each(ERAS)('MCP over HTTP', (era: Era) => {
    describeContract(era, project, async (listChanged) => {
      const client = clientOf(era, listChanged);
      await client.connect(new StreamableHTTPClientTransport(open.url));
      return { client, close: () => client.close() };
    });

    describe(`a client of ${era} with a token, and more skills than are listed`, () => {
      let client: Client;
      beforeAll(async () => {
        client = clientOf(era);
        const headers = { Authorization: `Bearer ${TOKEN}` };
        await client.connect(
          new StreamableHTTPClientTransport(local(guarded.url), { requestInit: { headers } }),
        );
      });
      afterAll(() => client.close());

      test('sees a search tool and a call tool, as dangerous as the skills they reach', async () => {
        const { tools } = await client.listTools();
        expect(tools.map(({ name }) => name)).toEqual(['skillcell_search', 'skillcell_call']);
        const [find, call] = tools;
        expect(find?.annotations).toMatchObject({ readOnlyHint: true, openWorldHint: false });
        expect(call?.annotations).toMatchObject({
          readOnlyHint: false,
          destructiveHint: true,
          openWorldHint: true,
        });
      });

      test('finds a skill and calls it', async () => {
        const found = await client.callTool({
          name: 'skillcell_search',
          arguments: { query: 'echo', limit: 1 },
        });
        expect(found.structuredContent).toMatchObject({
          matches: [
            { name: 'test__echo', inputSchema: { required: ['text'] }, annotations: { readOnlyHint: true } },
          ],
        });
        const call = (given: Record<string, unknown>): ReturnType<Client['callTool']> =>
          client.callTool({ name: 'skillcell_call', arguments: given });
        const said = await call({ name: 'test__echo', arguments: { text: 'found' } });
        expect(said.structuredContent).toEqual({ said: 'found' });
        expect(textOf(await call({ name: 'test__asks' }))).toContain('approval_required: ');
        expect(textOf(await call({ name: 'test__echo', arguments: 7, approve: true }))).toContain(
          'invalid_params: ',
        );
        await expect(call({ name: 'test__banned' })).rejects.toThrow('Unknown tool');
        // The name of a folder is not a tool.
        await expect(call({ name: '/etc' })).rejects.toThrow('Unknown tool');
      });

      test('gets the typings of what it found, for a program', async () => {
        const search = async (typings: string): Promise<string> => {
          const given = { query: 'echo', limit: 1, typings };
          const { structuredContent } = await client.callTool({ name: 'skillcell_search', arguments: given });
          return (structuredContent as { typings: string }).typings;
        };
        expect(await search('typescript')).toMatch(/echo\(params: \{[\s\S]*text: string;/);
        expect(await search('python')).toMatch(/def echo\(self, \/, \*, text: str/);
      });

      test('is told what is wrong with a search', async () => {
        const wrong = await client.callTool({
          name: 'skillcell_search',
          arguments: { query: '', limit: 99 },
        });
        expect(textOf(wrong)).toMatch(/query[\s\S]*limit|limit[\s\S]*query/);
      });
    });

    test(`a client of ${era} with another token is rejected`, async () => {
      const headers = { Authorization: `Bearer ${TOKEN}x` };
      const transport = new StreamableHTTPClientTransport(local(guarded.url), { requestInit: { headers } });
      await expect(clientOf(era).connect(transport)).rejects.toThrow();
    });
  });

  describe('an MCP server over HTTP', () => {
    test.each([
      ['a page of another site', { origin: 'https://evil.example' }, 403],
      ['a page without an origin', { origin: 'null' }, 403],
      ['a name that was made to point here', { host: 'evil.example' }, 403],
      ['a page of this machine', { origin: 'http://localhost:3000' }, 200],
      ['a program', {}, 200],
    ])('answers a request from %s with headers %s with status %i', async (_, headers, status) => {
      expect((await post(open.url, OPENING, headers)).statusCode).toBe(status);
    });

    test.each([
      ['nothing', {}],
      ['a wrong one', { authorization: 'Bearer wrong-wrong-wrong-wrong' }],
      ['the beginning', { authorization: `Bearer ${TOKEN.slice(0, -1)}` }],
      ['another scheme', { authorization: `Basic ${TOKEN}` }],
    ])('that needs a token answers %s with 401 and a challenge', async (_, headers) => {
      const { statusCode, headers: answer } = await post(local(guarded.url), OPENING, headers);
      expect(statusCode).toBe(401);
      expect(answer['www-authenticate']).toMatch(/^Bearer /);
    });

    test('checks the token before everything except the host name', async () => {
      const { statusCode } = await post(local(guarded.url), OPENING, {
        host: 'evil.example',
        authorization: `Bearer ${TOKEN}`,
      });
      expect(statusCode).toBe(403);
      expect((await post(local(guarded.url), OPENING, { host: '0.0.0.0' })).statusCode).toBe(403);
      expect((await post(local(guarded.url), 'no json', {})).statusCode).toBe(401);
    });
  });

  describe('an MCP server over HTTP', () => {
    test.each([
      ['no JSON', 'garbage', 400],
      ['an unknown session', inSession('not-a-session'), 404],
    ])('answers %s with an error', async (_, given, status) => {
      const [body, headers] = typeof given === 'string' ? [given, {}] : given;
      expect((await post(open.url, body, headers)).statusCode).toBe(status);
    });

    test('refuses a body that is too large, another type and another path', async () => {
      const { statusCode } = await post(open.url, ' '.repeat(11 * 1024 * 1024), {}).catch(() => ({
        statusCode: 413,
      }));
      expect(statusCode).toBe(413);
      expect((await post(open.url, OPENING, { 'content-type': 'text/plain' })).statusCode).toBe(415);
      expect((await post(new URL('/', open.url), OPENING, {})).statusCode).toBe(404);
    });

    test('ends the event stream of a cancelled call', async () => {
      const { given, isRunning } = slowCall();
      const ask = (body: object, session?: string): Promise<Response> =>
        fetch(open.url, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            accept: 'application/json, text/event-stream',
            ...(session === undefined ? {} : { 'mcp-session-id': session }),
          },
          body: JSON.stringify(body),
        });
      const opened = await ask(JSON.parse(OPENING) as object);
      const session = opened.headers.get('mcp-session-id') ?? '';
      await opened.text();
      await ask({ jsonrpc: '2.0', method: 'notifications/initialized' }, session);
      const params = { name: 'test__slow', arguments: given };
      const answer = await ask({ jsonrpc: '2.0', id: 7, method: 'tools/call', params }, session);
      await until(isRunning);
      await ask({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } }, session);
      // Hangs until the test times out if the stream does not end.
      expect(await answer.text()).not.toContain('"result"');
      await until(() => !isRunning());
    });

    test.each(ERAS)('ends the cell of a client of %s that disconnects', async (era) => {
      const { given, isRunning } = slowCall();
      const sockets: AbortController[] = [];
      const client = clientOf(era);
      const transport = new StreamableHTTPClientTransport(open.url, {
        fetch: (url, init = {}) => {
          const controller = new AbortController();
          sockets.push(controller);
          return fetch(url, { ...init, signal: controller.signal });
        },
      });
      await client.connect(transport);
      const answer = client.callTool({ name: 'test__slow', arguments: given });
      const refused = answer.catch(() => undefined);
      await until(isRunning);
      for (const socket of sockets) socket.abort();
      await until(() => !isRunning());
      await client.close();
      await refused;
    });
  });

  describe('the MCP conformance suite', () => {
    test('passes for supported features and fails for the documented gaps', async () => {
      const { code, passed, report } = await runConformance(project, open.url);
      expect(code, report).toBe(0);
      // The suite also reports scenarios without any check as passed.
      expect(passed).toEqual([
        'server-initialize',
        'ping',
        'tools-list',
        'tools-call-simple-text',
        'tools-call-error',
        'tools-call-with-progress',
        'json-schema-2020-12',
        'server-sse-multiple-streams',
        'resources-list',
        'dns-rebinding-protection',
      ]);
    });
  });

  describe('skillcell mcp --http', () => {
    test('requires a token even on loopback, readable only by its owner', async () => {
      const { child, url, notes } = await startHttp(project);
      try {
        const pathIn = (text: string): string => /the token in (\S+);/.exec(text)?.[1] ?? '';
        await expect.poll(() => pathIn(notes())).not.toBe('');
        const path = pathIn(notes());
        const token = readFileSync(path, 'utf8').trim();
        expect(statSync(path).mode & 0o777).toBe(0o600);
        expect(notes()).not.toContain(token);
        expect((await post(url, OPENING, {})).statusCode).toBe(401);
        expect((await post(url, OPENING, { authorization: `Bearer ${token}` })).statusCode).toBe(200);
      } finally {
        child.kill('SIGTERM');
        await once(child, 'exit');
      }
    });

    const line = openCommandLine();
    afterAll(line.close);

    test('refuses a public address without a token, and a port that is in use', async () => {
      const [missing, taken] = await Promise.all([
        line.run(['mcp', '--http', '0', '--host', '0.0.0.0']),
        line.run(['mcp', '--http', open.url.port]),
      ]);
      expect(missing).toMatchObject({ code: 2, stdout: '' });
      expect(missing.stderr).toContain('no token is set');
      expect(taken).toMatchObject({ code: 2, stdout: '' });
      expect(taken.stderr).toContain('Cannot listen on "127.0.0.1"');
    });
  });
}

const OPENING =
  '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"hand","version":"1"}}}';

function inSession(session: string): [string, Record<string, string>] {
  return ['{"jsonrpc":"2.0","id":1,"method":"ping"}', { 'mcp-session-id': session }];
}

/** The URL of the same server on loopback. */
function local(url: URL): URL {
  return new URL(url.pathname, `http://127.0.0.1:${url.port}`);
}

/** Uses node:http, because `fetch` does not allow setting the Host header. */
async function post(url: URL, body: string, headers: Record<string, string>): Promise<IncomingMessage> {
  const sent = request(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
  });
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  // Never removed: sending the rest of a rejected body may still fail after the answer.
  sent.on('response', resolve).on('error', reject).end(body);
  const answer = await promise;
  answer.resume();
  return answer;
}
