/**
 * `skillcell mcp` before it serves: what it prints for clients, and what it refuses.
 */
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { createRuntime } from '../../src/index.ts';
import { clientConfig } from '../../src/mcp/client-config.ts';
import { serveOverHttp } from '../../src/mcp/http/serve-http.ts';
import { Sessions } from '../../src/mcp/http/sessions.ts';
import { SkillServer } from '../../src/mcp/skill-server.ts';
import { openCommandLine } from '../cli/command.ts';

const line = openCommandLine();
afterAll(line.close);

interface Entry {
  type?: string;
  command: string;
  args: string[];
}

describe('--print-config', () => {
  test('prints an entry that starts the server wherever the client is', async () => {
    const project = join(line.folder, 'a project');
    mkdirSync(project);
    const ended = await line.run([
      'mcp',
      '--print-config',
      'claude',
      '--project',
      project,
      '--policy',
      join(line.folder, 'p.yaml'),
      '--isolated',
      '--timeout',
      '5s',
    ]);
    expect(ended.code).toBe(0);
    expect(ended.stderr).toContain('.mcp.json');
    const { mcpServers } = JSON.parse(ended.stdout) as { mcpServers: { skillcell: Entry } };
    const { command, args } = mcpServers.skillcell;
    const [bin = '', ...rest] = args;
    expect([command, bin].every(isAbsolute)).toBe(true);
    const real = realpathSync(project);
    const policy = join(line.folder, 'p.yaml');
    expect(rest).toEqual(['mcp', '--project', real, '--policy', policy, '--timeout', '5s', '--isolated']);
  });

  test('knows how each client writes it', () => {
    const { mcpServers } = clientConfig('cursor', { args: ['mcp'] }) as { mcpServers: { skillcell: Entry } };
    expect(mcpServers.skillcell).toEqual({ command: process.execPath, args: [expect.any(String), 'mcp'] });
    const { servers } = clientConfig('vscode', { args: ['mcp'] }) as { servers: { skillcell: Entry } };
    expect(servers.skillcell).toMatchObject({ type: 'stdio', command: process.execPath });
    const url = 'http://127.0.0.1:8765/mcp';
    expect(clientConfig('claude', { args: ['mcp'], url })).toEqual({
      mcpServers: { skillcell: { type: 'http', url } },
    });
  });

  test('starts with npx what lies in the cache of npx alone', () => {
    const root = '/home/x/.npm/_npx/0123/node_modules/skillcell';
    const { mcpServers } = clientConfig('claude', { args: ['mcp'], root }) as {
      mcpServers: { skillcell: Entry };
    };
    expect(mcpServers.skillcell.command).toBe('npx');
    expect(mcpServers.skillcell.args).toEqual(['-y', expect.stringMatching(/^skillcell@\d/), 'mcp']);
  });
});

test('--print-config --http has the token that the server will ask for', async () => {
  const { stdout } = await line.run(['mcp', '--print-config', 'claude', '--http', '8765']);
  const token = readFileSync(join(line.folder, 'home/mcp-token'), 'utf8').trim();
  expect(JSON.parse(stdout)).toEqual({
    mcpServers: {
      skillcell: {
        type: 'http',
        url: 'http://127.0.0.1:8765/mcp',
        headers: { Authorization: `Bearer ${token}` },
      },
    },
  });
  const open = await line.run(['mcp', '--print-config', 'claude', '--http', '8765', '--no-token']);
  expect(open.stdout).not.toContain('Authorization');
});

describe('sessions over HTTP', () => {
  const OPENING = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'hand', version: '1' } },
  };

  test('a flood of openings throws nobody out who uses theirs, and a library gets a token by default', async () => {
    await using runtime = createRuntime({ home: join(line.folder, 'home'), cwd: line.folder });
    await using skills = new SkillServer({ runtime });
    await using service = await serveOverHttp(skills, { port: 0, onNote: () => undefined });
    const ask = (body: object, headers: Record<string, string> = {}): Promise<Response> =>
      fetch(service.url, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${service.token ?? ''}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...headers,
        },
        body: JSON.stringify(body),
      });
    expect((await ask(OPENING, { authorization: '' })).status).toBe(401);
    const opened = await ask(OPENING);
    const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' };
    await opened.text();
    await ask({ jsonrpc: '2.0', method: 'notifications/initialized' }, session);
    // By one program, and by as many as it likes to be.
    for (let count = 0; count < 300; count++)
      await (await ask(OPENING, count % 2 === 0 ? {} : { 'user-agent': `flood ${count}` })).text();
    const after = await ask({ jsonrpc: '2.0', id: 2, method: 'ping' }, session);
    expect([after.status, (await after.text()).includes('"result"')]).toEqual([200, true]);
  });

  test('sessions that are all in use make a new client wait, and the idle ones give way after a while', async () => {
    await using runtime = createRuntime({ home: join(line.folder, 'home'), cwd: line.folder });
    await using skills = new SkillServer({ runtime });
    let now = 0;
    const sessions = new Sessions(skills, { now: () => now });
    const ask = (body: object, headers: Record<string, string> = {}): Promise<Response> =>
      sessions.handle(
        new Request('http://127.0.0.1/mcp', {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            accept: 'application/json, text/event-stream',
            'user-agent': 'one',
            ...headers,
          },
          body: JSON.stringify(body),
        }),
      );
    for (let count = 0; count < 64; count++) {
      const id = (await ask(OPENING)).headers.get('mcp-session-id') ?? '';
      await ask({ jsonrpc: '2.0', method: 'notifications/initialized' }, { 'mcp-session-id': id });
    }
    expect((await ask(OPENING)).status).toBe(503);
    expect((await ask(OPENING, { 'user-agent': 'another' })).status).toBe(200);
    now += 11 * 60_000;
    expect((await ask(OPENING)).status).toBe(200);
    await sessions.close();
  });
});

describe('before it serves', () => {
  test('a policy that was only found and gives more than the defaults stops it', async () => {
    const project = join(line.folder, 'cloned');
    mkdirSync(project);
    writeFileSync(join(project, 'skillcell.policy.yaml'), 'network: { allow_private: ["127.0.0.1"] }\n');
    const ended = await line.run(['mcp', '--project', project], { input: '' });
    expect(ended).toMatchObject({ code: 5, stdout: '' });
    expect(ended.stderr).toContain('skillcell policy trust');
  });

  test.each([
    ['--policy', 'mine.yaml'],
    ['--policy', './sub/../mine.yaml'],
    ['--token-file', 'mine.yaml'],
  ])('%s %s is not looked for in a project that somebody else wrote', async (option, file) => {
    const own = join(line.folder, 'own');
    const project = join(line.folder, 'with-policy');
    for (const folder of [own, project]) mkdirSync(folder, { recursive: true });
    writeFileSync(join(own, 'mine.yaml'), 'skills: [{ match: "*", decision: deny }]\n');
    writeFileSync(join(project, 'mine.yaml'), 'env: { allow: [INVENTED_KEY] }\n');
    const args = ['mcp', '--http', '0', '--print-config', 'claude', '--project', project];
    const ended = await line.run([...args, option, file], { cwd: own });
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    const fix = join(realpathSync(own), 'mine.yaml');
    expect(ended.stderr).toContain(`fix: Give its whole path: ${option} ${fix}`);
    expect((await line.run([...args, option, fix], { cwd: own })).code).toBe(0);
    expect((await line.run([...args.slice(0, -1), '.', option, file], { cwd: own })).code).toBe(0);
  });

  test('wrong options are refused, each with a reason', async () => {
    const [project, client, over, port] = await Promise.all([
      line.run(['mcp', '--project', join(line.folder, 'none')]),
      line.run(['mcp', '--print-config', 'emacs']),
      line.run(['mcp', '--search-over', '-1']),
      line.run(['mcp', '--http', '70000']),
    ]);
    expect([project.code, client.code, over.code, port.code]).toEqual([2, 2, 2, 2]);
    expect(project.stderr).toContain('as the project');
    expect(client.stderr).toContain('claude, cursor, vscode');
    expect(over.stderr).toContain('--search-over "-1" is no whole number');
    expect(port.stderr).toContain('is no whole number from 0 to 65535');
  });

  test.each(['0.0.0.0', '::', '192.0.2.1', 'localhost.evil.example', '::ffff:192.0.2.1'])(
    'an address that others can reach, %s, needs a token',
    async (host) => {
      await using runtime = createRuntime({ home: join(line.folder, 'home') });
      await using skills = new SkillServer({ runtime });
      const serve = (token?: string): Promise<unknown> =>
        serveOverHttp(skills, { port: 0, host, token, onNote: () => undefined });
      await expect(serve()).rejects.toThrow('there is no token');
      await expect(serve('short')).rejects.toThrow('The token has 5 characters');
    },
  );
});
