/**
 * `skillcell record` and `inspect` as an author would use them.
 *
 * @module
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestServer } from '../broker/gateway/http-server.ts';
import { writeSkill } from '../write-skill.ts';
import { openCommandLine } from './command.ts';

const { folder, run, close } = openCommandLine();
const KEY = 'invented-key-0123456789';
let server: TestServer;
let policy: string;

beforeAll(async () => {
  server = await TestServer.start((_, response) => response.end('ok'));
  policy = join(folder, 'policy.yaml');
  writeFileSync(policy, 'network: { allow_private: ["127.0.0.1"] }\n');
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  close();
});

const source = `
  import os, urllib.request
  def execute(params):
      url = "http://127.0.0.1:%d/v1/prices" % params["port"]
      request = urllib.request.Request(url, None, {"Authorization": os.environ["API_KEY"]})
      return {"answer": urllib.request.urlopen(request, timeout=10).read().decode(), "key": os.environ["API_KEY"]}
`;

const MANIFEST = `# Prices of things.
name: test/prices
version: 1.0.0
execution: [subprocess,  wasm] # as it is
capabilities: {}
`;

const skill = (): string => writeSkill(folder, { source, files: { 'manifest.yaml': MANIFEST } });
const params = (): string[] => ['--params', JSON.stringify({ port: server.port }), '--policy', policy];

describe('skillcell record', () => {
  test('prints only the diff to stdout and writes no file', async () => {
    const dir = skill();
    const flags = ['--allow-network', '--allow-secret', 'API_KEY'];
    const ended = await run(['record', dir, ...params(), ...flags], { env: { API_KEY: KEY } });
    expect(ended.code).toBe(0);
    expect(ended.stdout).toBe(`--- a/manifest.yaml
+++ b/manifest.yaml
@@ -2,4 +2,8 @@
 name: test/prices
 version: 1.0.0
 execution: [subprocess,  wasm] # as it is
-capabilities: {}
+capabilities:
+  network:
+    - { host: 127.0.0.1, port: ${server.port}, scheme: http, methods: [ GET ], paths: [ /v1/prices ] }
+env_vars:
+  API_KEY: { required: true, secret: true, hosts: [ 127.0.0.1 ] }
`);
    expect(ended.stderr).toContain('used      send API_KEY to 127.0.0.1');
    expect(ended.stdout + ended.stderr).not.toContain(KEY);
    expect(readFileSync(join(dir, 'manifest.yaml'), 'utf8')).toBe(MANIFEST);
  });

  test('--write creates a manifest that validates and lets the skill run', async () => {
    const dir = skill();
    const flags = ['--allow-network', '--allow-secret', 'API_KEY', '--write'];
    const env = { API_KEY: KEY };
    expect((await run(['record', dir, ...params(), ...flags], { env })).code).toBe(0);
    expect(await run(['validate', dir])).toMatchObject({ code: 0 });
    const ended = await run(['run', dir, ...params(), '--env', 'API_KEY'], { env });
    expect(ended.code).toBe(0);
    expect(JSON.parse(ended.stdout)).toMatchObject({ answer: 'ok' });
    expect(ended.stdout + ended.stderr).not.toContain(KEY);
    expect(server.seen.at(-1)?.headers.flat()).toContain(KEY);
    const inspected = await run(['inspect', dir, '--policy', policy, '--env', 'API_KEY']);
    expect(inspected.stdout).toContain('send the secret API_KEY to 127.0.0.1, without seeing it');
  });

  test('denies and reports everything that was not allowed', async () => {
    const before = server.seen.length;
    const ended = await run(['record', skill(), ...params()], { env: { API_KEY: KEY } });
    expect(ended.code).toBe(0);
    expect(server.seen).toHaveLength(before);
    expect(ended.stderr).toContain('denied    read API_KEY');
    expect(ended.stderr).toContain('--allow-secret API_KEY');
    expect(ended.stdout).toContain('+  API_KEY: { required: true } # requested, but denied in this run');
  });

  test('--json prints everything as JSON', async () => {
    const ended = await run(['record', skill(), ...params(), '--json']);
    expect(ended.code).toBe(0);
    expect(JSON.parse(ended.stdout)).toMatchObject({
      outcome: { ok: false },
      observed: { env: [{ name: 'API_KEY', denied: true }] },
      diff: expect.stringContaining('+++ b/manifest.yaml') as string,
      manifest: expect.stringContaining('name: test/prices') as string,
      unused: [],
    });
  });

  test('reports a secret that is not set before anything runs', async () => {
    const ended = await run(['record', skill(), ...params(), '--allow-secret', 'API_KEY']);
    expect(ended.code).toBe(2);
    expect(ended.stderr).toContain('requires the secret "API_KEY"');
    expect(ended.stdout).toBe('');
  });
});

test('skillcell inspect shows the variables that every cell has', async () => {
  const dir = writeSkill(folder, { source: 'def execute(params):\n    return {}' });
  const ended = await run(['inspect', dir, '--execution', 'subprocess']);
  expect(ended.stdout).toContain('read the variables of every cell: PATH, HOME, TMPDIR, LANG, PWD');
  const asJson = await run(['inspect', dir, '--execution', 'subprocess', '--json']);
  expect(JSON.parse(asJson.stdout)).toMatchObject({ fixed_env: { PATH: '/usr/bin:/bin', HOME: '/tmp' } });
});
