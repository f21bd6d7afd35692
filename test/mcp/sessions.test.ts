/**
 * Sessions of 2025-11-25 clients: who owns them, and when they are idle.
 */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRuntime, type Runtime } from '../../src/index.ts';
import { Sessions } from '../../src/mcp/http/sessions.ts';
import { SkillServer } from '../../src/mcp/skill-server.ts';
import { openFolder, removeFolder } from '../write-skill.ts';

const MINUTE = 60_000;
/** The maximum per client program. */
const PLACES = 64;
const OPENING = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};

let folder: string;
let runtime: Runtime;
let skills: SkillServer;

beforeAll(() => {
  folder = openFolder();
  runtime = createRuntime({ home: join(folder, 'home'), cwd: folder, pool: { size: 0 } });
  skills = new SkillServer({ runtime });
});

afterAll(async () => {
  await skills.close();
  await runtime.close();
  removeFolder(folder);
});

class Bench implements AsyncDisposable {
  now = 0;
  readonly #sessions = new Sessions(skills, { now: () => this.now });

  async open(owner: string, agent?: string): Promise<string> {
    const response = await this.ask(owner, OPENING, { agent });
    expect(response.status).toBe(200);
    await response.text();
    return response.headers.get('mcp-session-id') ?? '';
  }

  ask(owner: string, body: object, sender: Sender = {}): Promise<Response> {
    const method = { method: 'POST', body: JSON.stringify(body) };
    return this.#sessions.handle(request(method, sender), { owner });
  }

  /** Opens the event stream that notifies the client of changes. */
  listen(owner: string, session: string): Promise<Response> {
    return this.#sessions.handle(request({ method: 'GET' }, { session }), { owner });
  }

  async ping(owner: string, session: string): Promise<number> {
    const response = await this.ask(owner, { jsonrpc: '2.0', id: 2, method: 'ping' }, { session });
    await response.text();
    return response.status;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#sessions.close();
  }
}

interface Sender {
  session?: string | undefined;
  /** Value of the User-Agent header. */
  agent?: string | undefined;
}

function request(init: RequestInit, { session, agent }: Sender): Request {
  const headers = {
    'content-type': 'application/json',
    accept: init.method === 'GET' ? 'text/event-stream' : 'application/json, text/event-stream',
    ...(session === undefined ? {} : { 'mcp-session-id': session }),
    ...(agent === undefined ? {} : { 'user-agent': agent }),
  };
  return new Request('http://localhost/mcp', { ...init, headers });
}

describe('a session with an open event stream', () => {
  /** Opens all sessions; the first has a stream, and sends no further request. */
  async function full(bench: Bench): Promise<{ first: string; stream: Response }> {
    const first = await bench.open('a');
    const stream = await bench.listen('a', first);
    expect(stream.headers.get('content-type')).toBe('text/event-stream');
    bench.now = 30 * MINUTE;
    for (let places = 1; places < PLACES; places++) await bench.ping('a', await bench.open('a'));
    return { first, stream };
  }

  test('is not idle, however long nothing arrives', async () => {
    await using bench = new Bench();
    const { first, stream } = await full(bench);
    expect((await bench.ask('a', OPENING)).status).toBe(503);
    expect(await bench.ping('a', first)).toBe(200);
    await stream.body?.cancel();
  });

  test('becomes idle ten minutes after the stream was closed', async () => {
    await using bench = new Bench();
    const { first, stream } = await full(bench);
    await stream.body?.cancel();
    bench.now += 9 * MINUTE;
    expect((await bench.ask('a', OPENING)).status).toBe(503);
    bench.now += 2 * MINUTE;
    await bench.open('a');
    expect(await bench.ping('a', first)).toBe(404);
  });
});

describe('a session of one token', () => {
  test('is not accessible to another token', async () => {
    await using bench = new Bench();
    const session = await bench.open('a');
    expect(await bench.ping('b', session)).toBe(404);
    expect((await bench.listen('b', session)).status).toBe(404);
    expect(await bench.ping('a', session)).toBe(200);
  });

  test('does not use up the limit of another, even under the same client name', async () => {
    await using bench = new Bench();
    for (let places = 0; places < PLACES; places++) await bench.ping('a', await bench.open('a'));
    expect((await bench.ask('a', OPENING)).status).toBe(503);
    expect(await bench.ping('b', await bench.open('b'))).toBe(200);
  });

  test('cannot use up all sessions by pretending to be many programs', async () => {
    await using bench = new Bench();
    let opened = 0;
    for (; opened < 300; opened++) {
      const response = await bench.ask('a', OPENING, { agent: `program-${opened}` });
      await response.text();
      if (response.status === 503) break;
      await bench.ping('a', response.headers.get('mcp-session-id') ?? '');
    }
    expect(opened).toBe(128);
    for (let places = 0; places < PLACES; places++) await bench.ping('b', await bench.open('b'));
  });
});
