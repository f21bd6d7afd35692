/**
 * Programs of an image: secrets, TLS inspection, pools, limits and mistakes, in containers of crun.
 *
 * @module
 */
import { chmodSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { parseManifest } from '../../../../src/manifest/parse.ts';
import { writeSkill } from '../../../write-skill.ts';
import { BASE_IMAGE, IN_CONTAINER } from './container-runtime.ts';
import { execUnderTest } from './exec-suite.ts';

const SECRET = 'sk-invented-for-this-test-0123456789';

describe('a program of an image', () => {
  const cell = execUnderTest({ backend: 'crun', options: { env: { API_KEY: SECRET }, allowEnv: 'all' } });
  const { run, seen, ports } = cell;
  const withParams = (params: string): Record<string, unknown> => ({
    container: { image: BASE_IMAGE, params },
    capabilities: {},
  });

  test('sends a secret that it never sees', async () => {
    const env = { API_KEY: { required: true, secret: true, hosts: ['127.0.0.1'] } };
    const outcome = await run(
      `
      key = os.environ["API_KEY"]
      print(json.dumps([get(HTTP + "/ok/secret", Authorization="Bearer " + key), key]))
      `,
      { env_vars: env, capabilities: { network: cell.network().slice(0, 1) } },
    );
    expect(outcome, JSON.stringify(outcome)).toMatchObject({ ok: true });
    expect(seen).toContain(`GET /ok/secret Bearer ${SECRET}`);
    expect(JSON.stringify(outcome)).not.toContain(SECRET);
  });

  test('that fails because a host was denied fails with that denial and its fix', async () => {
    const outcome = await run(`get(HTTP + "/not-declared")`);
    expect(outcome).toMatchObject({
      ok: false,
      error: {
        code: 'capability_denied',
        detail: { capability: 'network', asked: `GET http://127.0.0.1:${ports().http}/not-declared` },
      },
    });
  });

  test('that fails for another reason fails with its exit code', async () => {
    expect(await run(`get(HTTP + "/ok"); sys.exit(3)`)).toMatchObject({
      ok: false,
      error: { code: 'skill_error', message: expect.stringContaining('exit code 3') },
    });
  });

  test('reaches nothing past the gateway', async () => {
    const outcome = await run(`
      import socket
      def attempt(*address):
          try:
              socket.create_connection(address, timeout=5).close()
              return "connected"
          except OSError as error:
              return type(error).__name__
      port = int(HTTP.rsplit(":", 1)[1])
      print(json.dumps([attempt("127.0.0.1", port), attempt("other.test", 80)]))
    `);
    expect(outcome).toMatchObject({ ok: true, result: ['ConnectionRefusedError', 'gaierror'] });
  });

  test('may start as many processes as it declares, without counting the forwarder', async () => {
    const outcome = await run(
      `
      children = []
      try:
          while len(children) < 20:
              child = os.fork()
              if child == 0:
                  import time
                  time.sleep(60)
              children.append(child)
      except OSError:
          pass
      for child in children:
          os.kill(child, 9)
          os.waitpid(child, 0)
      print(json.dumps([len(children), get(HTTP + "/ok")["hello"]]))
      `,
      { limits: { processes: 4 } },
    );
    // The program itself is one of the four.
    expect(outcome, JSON.stringify(outcome)).toMatchObject({ ok: true, result: [3, '/ok'] });
  });

  test('that may start processes but declares no hosts has its attempts reported', async () => {
    const outcome = await run(
      `
      import subprocess
      ended = subprocess.run(["/bin/busybox", "wget", "-q", "-O", "-", "http://other.test/x"], capture_output=True)
      print(json.dumps(ended.returncode))
      `,
      { capabilities: {}, limits: { processes: 4 } },
    );
    expect(outcome, JSON.stringify(outcome)).toMatchObject({
      ok: true,
      result: 1,
      capabilities: { denied: [{ capability: 'network', asked: 'GET http://other.test/x' }] },
    });
  });

  test('that stops its forwarder only cuts itself off', async () => {
    const outcome = await run(`
      other = [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]
      for pid in other:
          os.kill(pid, 9)
      try:
          get(HTTP + "/ok/after")
      except OSError as error:
          print(json.dumps([len(other), type(error).__name__ in ("URLError", "ConnectionResetError")]))
    `);
    // The connection is refused, or reset if the forwarder is just ending.
    expect(outcome).toMatchObject({ ok: true, result: [1, true] });
    expect(seen).not.toContain('GET /ok/after');
  });

  test.each([
    ['env:P', 128 * 1024 - 4, 'fit into the variable P'],
    ['file:/tmp/p.json', 200_000, 'limits.scratch'],
  ])('gets no more parameters by %s than fit, and the error says so', async (params, most, words) => {
    const manifest = { ...withParams(params), limits: { scratch: '200000' } };
    const body = `
      text = os.environ.get("P") or open("/tmp/p.json").read().rstrip()
      print(len(text))
    `;
    const text = (bytes: number): string => 'x'.repeat(bytes - '{"a":""}'.length);
    const last = params.startsWith('env:') ? most : most - 1;
    const fits = await run(body, manifest, { a: text(last) });
    expect(fits, JSON.stringify(fits).slice(0, 500)).toMatchObject({ ok: true, result: last });
    const outcome = await run(body, manifest, { a: text(last + 1) });
    expect(outcome).toMatchObject({
      ok: false,
      error: { code: 'invalid_params', message: expect.stringContaining(words) },
    });
    expect(!outcome.ok && outcome.error.fix).toContain('container: { params:');
  });

  test('that does not exist fails as without parameters in a variable', async () => {
    const { runtime, folder } = cell.opened();
    for (const container of [{ image: BASE_IMAGE }, { image: BASE_IMAGE, params: 'env:P' }]) {
      const dir = writeSkill(folder, {
        manifest: { ...IN_CONTAINER, container, entry: 'tool' },
        // A folder: the check of the image finds it, and the kernel refuses to execute it.
        files: { tool: '#!/etc\n' },
      });
      const outcome = await runtime.execute(dir, {}, { reject: false });
      expect(outcome, JSON.stringify(outcome)).toMatchObject({ ok: false });
      expect(outcome.ok || ['skill_unavailable', 'manifest_invalid']).toContain(
        outcome.ok || outcome.error.code,
      );
    }
  });

  test('in Python with a harness takes no parameters by variable', async () => {
    const { runtime, folder } = cell.opened();
    const dir = writeSkill(folder, {
      manifest: { ...IN_CONTAINER, container: { image: BASE_IMAGE, params: 'env:P' } },
      source: 'def execute(params):\n    return 1\n',
    });
    const outcome = await runtime.execute(dir, {}, { reject: false });
    expect(outcome).toMatchObject({
      ok: false,
      error: { code: 'skill_unavailable', message: expect.stringContaining('container.params') },
    });
  });
});

describe('a program of an image that was started ahead', () => {
  const cell = execUnderTest({ backend: 'crun', options: { pool: { size: 1, maxStandby: 1 } } });

  test.each(['network', 'a writable folder'])('does nothing before its call: %s', async (kind) => {
    const { runtime, folder } = cell.opened();
    cell.seen.length = 0;
    const workspace = join(folder, `workspace-${kind.length}`);
    mkdirSync(workspace);
    chmodSync(workspace, 0o777);
    const hasNetwork = kind === 'network';
    const filesystem = [{ path: '${workspace}', access: 'read-write' }];
    const dir = cell.script(
      hasNetwork ? `get(HTTP + "/ok/early"); print(1)` : `open("/workspace/early", "w").close(); print(1)`,
      { capabilities: hasNetwork ? { network: cell.network() } : { filesystem } },
    );
    const skill = await runtime.load(dir);
    const options = hasNetwork ? {} : { workspace };
    await runtime.warm(skill, options);
    await sleep(1000);
    expect(cell.seen).not.toContain('GET /ok/early');
    expect(existsSync(join(workspace, 'early'))).toBe(false);
    const outcome = await runtime.execute(skill, {}, { ...options, reject: false });
    expect(outcome).toMatchObject({ ok: true, result: 1, execution: { start: 'pool' } });
    expect(hasNetwork ? cell.seen.includes('GET /ok/early') : existsSync(join(workspace, 'early'))).toBe(
      true,
    );
  });

  test('is used for its call even if it needs no launcher', async () => {
    const { runtime } = cell.opened();
    const skill = await runtime.load(cell.script(`print(sys.stdin.read())`, { capabilities: {} }));
    await runtime.warm(skill);
    const outcome = await runtime.execute(skill, { a: 1 }, { reject: false });
    expect(outcome).toMatchObject({ ok: true, result: { a: 1 }, execution: { start: 'pool' } });
  });
});

describe('under inspect_tls, a program of an image', () => {
  const cell = execUnderTest({ backend: 'crun', network: ', inspect_tls: true' });

  test('trusts the gateway by its variables, and its paths are checked inside TLS', async () => {
    const rule = { host: '127.0.0.1', port: cell.ports().https, methods: ['GET'], paths: ['/ok*'] };
    const manifest = { capabilities: { network: [rule] } };
    const reached = await cell.run(`print(json.dumps(get(HTTPS + "/ok/tls")))`, manifest);
    expect(reached, JSON.stringify(reached)).toMatchObject({ ok: true, result: { hello: '/ok/tls' } });
    const denied = await cell.run(`print(json.dumps(get(HTTPS + "/other")))`, manifest);
    expect(denied).toMatchObject({
      ok: false,
      error: { code: 'capability_denied' },
      capabilities: { denied: [{ asked: `GET https://127.0.0.1:${cell.ports().https}/other` }] },
    });
  });
});

describe('container.params in a manifest', () => {
  const parse = (params: string, more = ''): unknown =>
    parseManifest(`name: a/b\ncontainer: { image: localhost/a, params: ${params} }\n${more}`, {
      file: 'manifest.yaml',
    }).manifest.container?.params;

  test.each(['stdin', '"env:PARAMS"', '"file:/tmp/a/b.json"'])('can be %s', (params) => {
    expect(parse(params)).toBe(params.replaceAll('"', ''));
  });

  test.each([
    'argv',
    '"env:"',
    '"env:PATH"',
    '"env:LD_PRELOAD"',
    '"env:HTTPS_PROXY"',
    '"env:a b"',
    '"file:"',
    '"file:params.json"',
    '"file:/etc/passwd"',
    '"file:/tmp"',
    '"file:/tmp/../etc/x"',
    '"file:/tmp/.hidden"',
    '"file:/tmpx/a"',
    '[stdin]',
  ])('cannot be %s', (params) => {
    expect(() => parse(params)).toThrow(/manifest/i);
  });

  test('cannot name a variable of env_vars', () => {
    expect(() => parse('"env:KEY"', 'env_vars: { KEY: {} }')).toThrow(/env_vars/);
  });
});
