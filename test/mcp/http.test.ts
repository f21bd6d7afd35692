/**
 * The real process over HTTP.
 */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { request, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openCommandLine } from '../cli/command.ts';
import { describeContract } from './contract.ts';
import {
  clientOf,
  ERAS,
  openProject,
  slowCall,
  startHttp,
  until,
  type Era,
  type HttpProcess,
} from './project.ts';

const TOKEN = 'an-invented-token-of-32-characters';

const project = openProject();
let open: HttpProcess;
let guarded: HttpProcess;

beforeAll(async () => {
  const file = join(project.folder, 'token');
  writeFileSync(file, `${TOKEN}\n`);
  [open, guarded] = await Promise.all([
    startHttp(project),
    startHttp(project, '--host', '0.0.0.0', '--token-file', file),
  ]);
});

afterAll(async () => {
  for (const { child } of [open, guarded]) {
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
  }
  project.close();
});

describe.each(ERAS)('over HTTP', (era: Era) => {
  describeContract(era, project, async (listChanged) => {
    const client = clientOf(era, listChanged);
    await client.connect(new StreamableHTTPClientTransport(open.url));
    return { client, close: () => client.close() };
  });

  test(`a token lets a client of ${era} in, and another does not`, async () => {
    const connect = async (token: string): Promise<string[]> => {
      const client = clientOf(era);
      const headers = { Authorization: `Bearer ${token}` };
      await client.connect(
        new StreamableHTTPClientTransport(local(guarded.url), { requestInit: { headers } }),
      );
      const { tools } = await client.listTools();
      await client.close();
      return tools.map(({ name }) => name);
    };
    expect(await connect(TOKEN)).toContain('test_echo');
    await expect(connect(`${TOKEN}x`)).rejects.toThrow();
  });
});

describe('who gets in', () => {
  test.each([
    ['a page of another site', { origin: 'https://evil.example' }, 403],
    ['a page without an origin', { origin: 'null' }, 403],
    ['a name that was made to point here', { host: 'evil.example' }, 403],
    ['a page of this machine', { origin: 'http://localhost:3000' }, 200],
    ['a program', {}, 200],
  ])('%s gets %s: %i', async (_, headers, status) => {
    expect((await post(open.url, OPENING, headers)).statusCode).toBe(status);
  });

  test.each([
    ['nothing', {}],
    ['a wrong one', { authorization: 'Bearer wrong-wrong-wrong-wrong' }],
    ['the beginning', { authorization: `Bearer ${TOKEN.slice(0, -1)}` }],
    ['another scheme', { authorization: `Basic ${TOKEN}` }],
  ])('where a token is needed, %s is 401 and says how to ask', async (_, headers) => {
    const { statusCode, headers: answer } = await post(local(guarded.url), OPENING, headers);
    expect(statusCode).toBe(401);
    expect(answer['www-authenticate']).toMatch(/^Bearer /);
  });

  test('the token is asked for in front of everything but the name of the host', async () => {
    const { statusCode } = await post(local(guarded.url), OPENING, {
      host: 'evil.example',
      authorization: `Bearer ${TOKEN}`,
    });
    expect(statusCode).toBe(403);
    expect((await post(local(guarded.url), 'no json', {})).statusCode).toBe(401);
  });
});

describe('a server over HTTP', () => {
  test.each([
    ['no JSON', 'garbage', 400],
    ['an unknown session', inSession('not-a-session'), 404],
  ])('answers %s with an error', async (_, given, status) => {
    const [body, headers] = typeof given === 'string' ? [given, {}] : given;
    expect((await post(open.url, body, headers)).statusCode).toBe(status);
  });

  test('refuses a body that is too large, another type and another path', async () => {
    const { statusCode } = await post(open.url, ' '.repeat(17 * 1024 * 1024), {}).catch(() => ({
      statusCode: 413,
    }));
    expect(statusCode).toBe(413);
    expect((await post(open.url, OPENING, { 'content-type': 'text/plain' })).statusCode).toBe(415);
    expect((await post(new URL('/', open.url), OPENING, {})).statusCode).toBe(404);
  });

  test.each(ERAS)('ends the cell of a client of %s that hangs up', async (era) => {
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
    const answer = client.callTool({ name: 'test_slow', arguments: given });
    const refused = answer.catch(() => undefined);
    await until(isRunning);
    for (const socket of sockets) socket.abort();
    await until(() => !isRunning());
    await client.close();
    await refused;
  });
});

describe('skillcell mcp --http', () => {
  const line = openCommandLine();
  afterAll(line.close);

  test.each([
    [['--host', '0.0.0.0'], 'there is no token'],
    [['--host', '::'], 'there is no token'],
    [['--host', '192.0.2.1'], 'there is no token'],
    [['--host', 'localhost.evil.example'], 'there is no token'],
  ])('refuses %j without a token', async (flags, message) => {
    const ended = await line.run(['mcp', '--http', '0', ...flags]);
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toContain(message);
  });

  test('refuses a short token, a port that is none, and one that is taken', async () => {
    const short = await line.run(['mcp', '--http', '0'], { env: { SKILLCELL_MCP_TOKEN: 'short' } });
    expect(short.stderr).toContain('The token has 5 characters');
    const none = await line.run(['mcp', '--http', '70000']);
    expect(none.stderr).toContain('is no whole number from 0 to 65535');
    const taken = await line.run(['mcp', '--http', open.url.port]);
    expect(taken.stderr).toContain('Cannot listen on 127.0.0.1');
    expect([short.code, none.code, taken.code]).toEqual([2, 2, 2]);
  });
});

const OPENING =
  '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"hand","version":"1"}}}';

function inSession(session: string): [string, Record<string, string>] {
  return ['{"jsonrpc":"2.0","id":1,"method":"ping"}', { 'mcp-session-id': session }];
}

/** The same server by way of the loopback. */
function local(url: URL): URL {
  return new URL(url.pathname, `http://127.0.0.1:${url.port}`);
}

/** By hand: `fetch` does not let anybody choose the host. */
async function post(url: URL, body: string, headers: Record<string, string>): Promise<IncomingMessage> {
  const sent = request(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
  });
  sent.end(body);
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  answer.resume();
  return answer;
}
