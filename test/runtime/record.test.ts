/**
 * Recording what a skill needs: whole calls against real files and a real server.
 *
 * @module
 */
import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createRuntime, parsePolicy, saveRecording, type Allowed, type Recording } from '../../src/index.ts';
import { TestServer } from '../broker/gateway/http-server.ts';
import { openTestRuntime } from '../cell/test-runtime.ts';
import { bundled } from '../skills/copy-skill.ts';
import { writeSkill } from '../write-skill.ts';

const VALUE = 'sk-invented-0123456789-abcdefghij';
const policy = parsePolicy('network: { allow_private: ["127.0.0.1"] }', { file: 'policy' });
const env = { API_KEY: VALUE, REGION: 'eu', NOT_ALLOWED: 'must never be seen' };
const { runtime, folder, close } = openTestRuntime({ policy, env });
const workspace = join(folder, 'workspace');
let server: TestServer;

beforeAll(async () => {
  server = await TestServer.start((_, response) => response.end('ok'));
  mkdirSync(join(workspace, 'in'), { recursive: true });
  mkdirSync(join(workspace, 'out'));
  // If the host runs as root, its cells do not.
  for (const dir of [workspace, join(workspace, 'out')]) chmodSync(dir, 0o777);
  writeFileSync(join(workspace, 'in', 'a.txt'), 'one');
  writeFileSync(join(workspace, 'in', 'b.txt'), 'two');
});

beforeEach(() => {
  server.seen.length = 0;
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await close();
});

const source = `
  import os, urllib.request
  def execute(params):
      texts = [open("/workspace/in/" + name).read() for name in ("a.txt", "b.txt")]
      with open("/workspace/out/result.txt", "w") as file:
          file.write("".join(texts))
      headers = {"Authorization": "Bearer " + os.environ["API_KEY"], "x-region": os.environ["REGION"]}
      for path in ("/v1/items/17?q=1", "/v1/items/18"):
          url = "http://127.0.0.1:%d%s" % (params["port"], path)
          urllib.request.urlopen(urllib.request.Request(url, None, headers), timeout=10).read()
      return {"texts": texts}
`;

/** Its manifest declares things that the code does not use, and nothing that it needs. */
const drifted = {
  capabilities: {
    network: [{ host: 'old.example.com' }],
    filesystem: [{ path: '${workspace}/in', access: 'read-write' }],
  },
  env_vars: { UNUSED: { description: 'nobody reads it' } },
};

const everything: Allowed = {
  network: true,
  read: ['${workspace}/in'],
  write: [join(workspace, 'out')],
  env: ['REGION'],
  secrets: ['API_KEY'],
};

function record(skill: string, mode: 'wasm' | 'subprocess', allow: Allowed = {}): Promise<Recording> {
  return runtime.record(skill, { port: server.port }, { execution: mode, workspace, allow });
}

describe.each(['subprocess', 'wasm'] as const)('recording a skill in mode %s', (mode) => {
  // The first use prepares the engine.
  beforeAll(async () => {
    await runtime.execute(
      writeSkill(folder, { source: 'def execute(params):\n    return {}' }),
      {},
      { execution: mode },
    );
  });

  test('finds the least manifest, with which the skill runs', async () => {
    const skill = writeSkill(folder, { source, manifest: drifted });
    await expect(runtime.load(skill)).rejects.toMatchObject({ code: 'manifest_drift' });
    const recording = await record(skill, mode, everything);
    expect(recording.outcome).toMatchObject({ ok: true });
    expect(recording.unused.toSorted()).toEqual(['env UNUSED', 'network https://old.example.com']);
    expect(recording.diff).toMatch(/^-.*old\.example\.com/m);
    saveRecording(recording);
    const { manifest } = (await runtime.load(skill)).bundle;
    expect(manifest.capabilities.network).toEqual([
      { host: '127.0.0.1', port: server.port, scheme: 'http', methods: ['GET'], paths: ['/v1/items/*'] },
    ]);
    expect(manifest.capabilities.filesystem).toEqual([
      { path: '${workspace}/in', access: 'read' },
      { path: '${workspace}/out', access: 'read-write' },
    ]);
    expect(manifest.env).toEqual({
      API_KEY: { required: true, secret: true, hosts: ['127.0.0.1'] },
      REGION: { required: true, secret: false, hosts: [] },
    });
    const outcome = await runtime.execute(skill, { port: server.port }, { execution: mode, workspace });
    expect(outcome).toMatchObject({ result: { texts: ['one', 'two'] }, capabilities: { denied: [] } });
    // A second recording confirms the written manifest.
    expect((await record(skill, mode, everything)).diff).toBe('');
  });

  test('fills in the key, which appears in no report', async () => {
    const recording = await record(writeSkill(folder, { source, manifest: drifted }), mode, everything);
    expect(server.seen[0]?.headers.flat()).toContain(`Bearer ${VALUE}`);
    expect(JSON.stringify(recording)).not.toContain(VALUE);
  });

  test('does not widen an existing folder to the folder above', async () => {
    const makesFolder = `
      import os
      def execute(params):
          os.makedirs("/workspace/out", exist_ok=True)
          with open("/workspace/out/made.txt", "w") as file:
              file.write("x")
          return {"constructor": os.environ.get("__proto__")}
    `;
    const skill = writeSkill(folder, { source: makesFolder });
    const recording = await record(skill, mode, { write: [join(workspace, 'out')] });
    expect(recording.outcome).toMatchObject({ ok: true });
    saveRecording(recording);
    const { manifest } = (await runtime.load(skill)).bundle;
    expect(manifest.capabilities.filesystem).toEqual([{ path: '${workspace}/out', access: 'read-write' }]);
    expect(manifest.env).toEqual({});
  });

  test('does not propose a folder as writable that was not changed', async () => {
    const findsFolder = `
      import os
      def execute(params):
          os.makedirs("/workspace/out", exist_ok=True)
          return {"names": sorted(os.listdir("/workspace/out"))}
    `;
    const { manifest } = await record(writeSkill(folder, { source: findsFolder }), mode, {
      write: [join(workspace, 'out')],
    });
    expect(manifest).toContain('"${workspace}/out", access: read }');
  });

  test('reports denied acts, which have no effect', async () => {
    const greedy = `
      import os, urllib.request
      def execute(params):
          tried = []
          for act in (
              lambda: open("/workspace/in/a.txt").read(),
              lambda: open("/data/of/others.txt", "w"),
              lambda: urllib.request.urlopen("http://127.0.0.1:%d/v1/x" % params["port"], b"data"),
              lambda: os.environ["NOT_ALLOWED"],
          ):
              try:
                  tried.append(act())
              except Exception as error:
                  tried.append(type(error).__name__)
          return {"tried": tried}
    `;
    const { outcome, manifest, observed } = await record(writeSkill(folder, { source: greedy }), mode);
    expect(server.seen).toEqual([]);
    expect(JSON.stringify(outcome)).not.toContain('must never be seen');
    expect(outcome).toMatchObject({ ok: true });
    expect(observed.requests).toContainEqual(
      expect.objectContaining({
        host: '127.0.0.1',
        port: server.port,
        method: 'POST',
        path: '/v1/x',
        denied: true,
      }),
    );
    for (const asked of ['${workspace}/in/a.txt', '/data/of', 'NOT_ALLOWED', '127.0.0.1'])
      expect(manifest).toContain(asked);
    expect(manifest).toContain('denied in this run');
  });

  test('learns nothing from a call that never ran', async () => {
    const skill = writeSkill(folder, {
      source,
      manifest: { parameters: { type: 'object', required: ['x'] } },
    });
    await expect(record(skill, mode)).rejects.toMatchObject({ code: 'invalid_params' });
    const missing = { secrets: ['MISSING_KEY'] };
    await expect(record(writeSkill(folder, { source }), mode, missing)).rejects.toMatchObject({
      code: 'usage',
    });
  });
});

test('recording sees the programs that are started', async () => {
  const starting =
    'import subprocess\ndef execute(params):\n    return {"out": subprocess.run(["/bin/echo", "hi"], capture_output=True, text=True).stdout}\n';
  const skill = writeSkill(folder, { source: starting });
  expect((await record(skill, 'subprocess')).manifest).toMatch(/\bprocesses"?: 2\b/);
  const allowed = await record(skill, 'subprocess', { processes: 4 });
  expect(allowed.outcome).toMatchObject({ ok: true, result: { out: 'hi\n' } });
  expect(allowed.manifest).toMatch(/\bprocesses"?: 4\b/);
});

test('recording obeys a policy that names hosts', async () => {
  const strict = { ...policy, network: { ...policy.network, allow: ['api.example.com'] } };
  await using other = createRuntime({ home: runtime.home, cwd: folder, policy: strict, env });
  const asking = `
    import urllib.request
    def execute(params):
        urllib.request.urlopen("http://127.0.0.1:%d/" % params["port"])
  `;
  const skill = writeSkill(folder, { source: asking });
  const recording = await other.record(
    skill,
    { port: server.port },
    { execution: 'subprocess', allow: { network: true } },
  );
  expect(server.seen).toEqual([]);
  expect(recording.observed.requests).toMatchObject([{ denied: true }]);
});

describe('recording a component', () => {
  const copied = (id: string, edit: (text: string) => string): string => {
    const dir = join(folder, 'components', id);
    cpSync(bundled(id), dir, { recursive: true, filter: (file) => !file.endsWith('skill.lock') });
    const file = join(dir, 'manifest.yaml');
    writeFileSync(file, edit(readFileSync(file, 'utf8')));
    return dir;
  };

  test('sees its requests', async () => {
    const skill = copied('web/fetch_status', (text) =>
      text.replace(/capabilities:\n.*\n.*\n/, 'capabilities: {}\n'),
    );
    const params = { url: `http://127.0.0.1:${server.port}/some/page` };
    const recording = await runtime.record(skill, params, { allow: { network: true } });
    expect(recording.outcome).toMatchObject({ ok: true, result: { status: 200 } });
    saveRecording(recording);
    expect((await runtime.load(skill)).bundle.manifest.capabilities.network).toEqual([
      { host: '127.0.0.1', port: server.port, scheme: 'http', methods: ['GET'], paths: ['/some/page'] },
    ]);
  });

  test('sees its files', async () => {
    const skill = copied('text/dir_words', (text) => text.replace('access: read', 'access: read-write'));
    const recording = await runtime.record(
      skill,
      {},
      { workspace: join(workspace, 'in'), allow: { read: ['${workspace}'] } },
    );
    expect(recording.outcome).toMatchObject({ ok: true, result: { total_words: 2 } });
    expect(recording.diff).toContain('+    - { path: "${workspace}", access: read }');
  });
});

test('says which code the call did not get to, because the skill does not load with it', async () => {
  const skill = writeSkill(folder, { source: 'import imaplib\ndef execute(params):\n    return 1\n' });
  const { remarks } = await runtime.record(skill, {}, { allow: { network: true } });
  expect(remarks).toEqual([
    expect.stringMatching(
      /^The code imports "imaplib" \(skill\.py:1\).* This call did not use it, so the skill does not load/,
    ),
  ]);
  await expect(runtime.load(skill)).rejects.toMatchObject({ code: 'manifest_drift' });
});

test('does not advise to allow a secret that was allowed', async () => {
  // Nothing may be reached, so the call fails before the secret is sent.
  const skill = writeSkill(folder, {
    source: `
      import os, urllib.request
      def execute(params):
          headers = {"Authorization": os.environ["API_KEY"]}
          urllib.request.urlopen(urllib.request.Request(params["url"], None, headers), timeout=10)
    `,
  });
  const url = `http://127.0.0.1:${server.port}/`;
  const { remarks } = await runtime.record(skill, { url }, { allow: { secrets: ['API_KEY'] } });
  expect(remarks.join(' ')).toContain('API_KEY looks like a secret');
  expect(remarks.join(' ')).not.toContain('--allow-secret');
});
