/**
 * Programs of an image, without a harness, in containers of one backend: they reach declared hosts through the gateway,
 * and get their parameters the way their manifest says.
 *
 * @module
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAuthority } from '../../../../src/broker/gateway/tls/authority.ts';
import { pathInside } from '../../../../src/cell/images/inside.ts';
import { createImageStore } from '../../../../src/cell/images/store.ts';
import type { BackendName } from '../../../../src/cell/walls/container/contract.ts';
import type { RuntimeOptions } from '../../../../src/index.ts';
import type { Outcome } from '../../../../src/outcome.ts';
import { parsePolicy } from '../../../../src/policy/operator.ts';
import { secureServer } from '../../../broker/gateway/tls/secure-server.ts';
import { writeSkill } from '../../../write-skill.ts';
import { addImage } from '../../images/helpers.ts';
import type { TestRuntime } from '../../test-runtime.ts';
import { BASE_IMAGE, IN_CONTAINER, openContainerRuntime } from './container-runtime.ts';

const authority = createAuthority();
const LARGE = 3_000_000;

export interface ExecSuite {
  backend: BackendName;
  options?: RuntimeOptions;
  /** Added to the policy's `network`. */
  network?: string;
}

export interface ExecUnderTest {
  opened: () => TestRuntime;
  ports: () => { http: number; https: number };
  /** Requests that reached the servers, with their `Authorization`. */
  seen: string[];
  /** Writes a skill whose program is this Python script, run by the image's interpreter without a harness. */
  script: (body: string, manifest?: Record<string, unknown>) => string;
  run: (body: string, manifest?: Record<string, unknown>, params?: unknown) => Promise<Outcome>;
  /** Rules for both servers; only GET of paths below `/ok` over http. */
  network: () => Record<string, unknown>[];
}

/** Opens the servers and the runtime of a suite. */
export function execUnderTest({ backend, options = {}, network: more = '' }: ExecSuite): ExecUnderTest {
  let [opened, ports]: [TestRuntime | undefined, { http: number; https: number }] = [
    undefined,
    { http: 0, https: 0 },
  ];
  const seen: string[] = [];
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    seen.push(`${request.method} ${request.url} ${request.headers.authorization ?? ''}`.trim());
    const hello = request.url === '/ok/large' ? 'x'.repeat(LARGE) : request.url;
    response.end(JSON.stringify({ hello }));
  };
  const plain: Server = createServer(answer);
  const secure = secureServer(authority, '127.0.0.1', answer);
  const policy = parsePolicy(`network: { allow_private: ["127.0.0.1"]${more} }`, { file: 'policy.yaml' });
  beforeAll(async () => {
    plain.listen(0, '127.0.0.1');
    secure.server.listen(0, '127.0.0.1');
    await Promise.all([once(plain, 'listening'), once(secure.server, 'listening')]);
    const portOf = (server: { address(): unknown }): number => (server.address() as AddressInfo).port;
    ports = { http: portOf(plain), https: portOf(secure.server) };
    const given = { pool: { size: 0 }, policy, network: { ca: [authority.certificate] }, ...options };
    opened = await openContainerRuntime(backend, given);
  });
  afterAll(async () => {
    for (const server of [plain, secure.inner]) server.closeAllConnections();
    plain.close();
    secure.server.close();
    await opened?.close();
  });
  const ofRuntime = (): TestRuntime => opened ?? expect.fail('The runtime is not open');
  const network = (): Record<string, unknown>[] => [
    { host: '127.0.0.1', port: ports.http, scheme: 'http', methods: ['GET'], paths: ['/ok*'] },
    { host: '127.0.0.1', port: ports.https },
  ];
  const script = (body: string, manifest: Record<string, unknown> = {}): string => {
    const lines = [
      '#!/usr/bin/python3',
      'import errno, json, os, sys, urllib.request',
      `HTTP, HTTPS = "http://127.0.0.1:${ports.http}", "https://127.0.0.1:${ports.https}"`,
      'def get(url, **headers):',
      '    request = urllib.request.Request(url, headers=headers)',
      '    return json.loads(urllib.request.urlopen(request, timeout=100).read())',
      ...body.split('\n').map((line) => line.replace(/^ {6}/, '')),
    ];
    return writeSkill(ofRuntime().folder, {
      manifest: {
        ...IN_CONTAINER,
        entry: 'tool',
        capabilities: { network: network() },
        // A busy machine can take minutes to start a container and many connections.
        limits: { timeout: '240s' },
        ...manifest,
      },
      files: { tool: `${lines.join('\n')}\n` },
    });
  };
  const run: ExecUnderTest['run'] = (body, manifest = {}, params = {}) =>
    ofRuntime().runtime.execute(script(body, manifest), params, { reject: false });
  return { opened: ofRuntime, ports: () => ports, seen, script, run, network };
}

/** An image whose only file is busybox: no shell, no Python, no libraries. */
async function bareImage(home: string, command: string[]): Promise<string> {
  const images = createImageStore({ home });
  const owner = { digest: '', manifest: { name: 'a/b' }, origin: 'project', sourceDir: '/' };
  const base = await images.resolve(
    { image: BASE_IMAGE },
    owner as unknown as Parameters<typeof images.resolve>[1],
  );
  const busybox = readFileSync((await pathInside(await base.rootfs(), '/bin/busybox')) ?? '');
  const entries = [{ name: 'wget', text: busybox, mode: 0o755 }];
  return `localhost/bare@${await addImage(images, entries, { config: { Entrypoint: command } })}`;
}

/** What every backend has to do. */
export function execContract(suite: ExecSuite): void {
  const cell = execUnderTest(suite);
  const { run, ports, seen } = cell;

  test('a program in an image without shell, Python and libraries reaches a declared host', async () => {
    const { runtime, folder } = cell.opened();
    const url = `http://127.0.0.1:${ports().http}`;
    const call = async (path: string): Promise<Outcome> => {
      const image = await bareImage(join(folder, 'home'), ['/wget', '-q', '-O', '-', `${url}${path}`]);
      const dir = writeSkill(folder, {
        manifest: { ...IN_CONTAINER, container: { image }, capabilities: { network: cell.network() } },
      });
      return runtime.execute(dir, {}, { reject: false });
    };
    const reached = await call('/ok/bare');
    expect(reached, JSON.stringify(reached)).toMatchObject({
      ok: true,
      result: { hello: '/ok/bare' },
      execution: { mode: 'container', engine: 'exec' },
      capabilities: { used: [{ capability: 'network', asked: `GET ${url}/ok/bare` }], denied: [] },
    });
    const denied = await call('/secret');
    expect(denied, JSON.stringify(denied)).toMatchObject({
      ok: false,
      error: { code: 'capability_denied' },
      capabilities: { denied: [{ capability: 'network', asked: `GET ${url}/secret` }] },
    });
    expect(seen).toContain('GET /ok/bare');
    expect(seen).not.toContain('GET /secret');
  });

  test('a program reaches declared hosts with and without TLS, even in large and many answers', async () => {
    const outcome = await run(`
      from concurrent.futures import ThreadPoolExecutor
      with ThreadPoolExecutor(30) as pool:
          many = list(pool.map(lambda n: get(HTTP + "/ok/%d" % n)["hello"], range(60)))
      print(json.dumps([get(HTTPS + "/tls"), len(set(many)), len(get(HTTP + "/ok/large")["hello"])]))
    `);
    expect(outcome, JSON.stringify(outcome)).toMatchObject({
      ok: true,
      result: [{ hello: '/tls' }, 60, LARGE],
    });
    const asked = outcome.capabilities.used.map((event) => event.asked);
    expect(asked).toContain(`CONNECT https://127.0.0.1:${ports().https}`);
  });

  test('an undeclared host is denied even if the program catches the error', async () => {
    const outcome = await run(`
      try:
          get("http://other.test/")
      except Exception as error:
          print(json.dumps(type(error).__name__))
    `);
    expect(outcome, JSON.stringify(outcome)).toMatchObject({
      ok: true,
      result: 'HTTPError',
      capabilities: { used: [], denied: [{ capability: 'network', asked: 'GET http://other.test/' }] },
    });
  });

  test('a program that may start no process starts none, although a forwarder runs beside it', async () => {
    const outcome = await run(`
      import threading
      def attempt(act):
          try:
              return str(act())
          except OSError as error:
              return errno.errorcode[error.errno]
      started = []
      thread = threading.Thread(target=lambda: started.append(1))
      thread.start()
      thread.join()
      others = [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]
      print(json.dumps({
          "fork": attempt(os.fork),
          "spawn": attempt(lambda: os.posix_spawn("/bin/busybox", ["busybox", "true"], {})),
          "wait": attempt(lambda: os.waitpid(-1, os.WNOHANG)),
          "memory": [attempt(lambda: open("/proc/%d/mem" % other, "r+b")) for other in others],
          "started": started, "own": os.getpid(), "reached": get(HTTP + "/ok"),
      }))
    `);
    expect(outcome, JSON.stringify(outcome)).toMatchObject({
      ok: true,
      result: {
        fork: 'EPERM',
        spawn: 'EPERM',
        wait: 'ECHILD',
        started: [1],
        own: 1,
        reached: { hello: '/ok' },
      },
    });
    const { memory } = (outcome.ok ? outcome.result : {}) as { memory: string[] };
    for (const answer of memory) expect(['EACCES', 'EPERM', 'ENOENT']).toContain(answer);
  });

  test.each([
    ['stdin', 'sys.stdin.read()'],
    ['env:SKILL_PARAMS', 'os.environ["SKILL_PARAMS"]'],
    ['file:/tmp/in/params.json', 'open("/tmp/in/params.json").read()'],
  ])('parameters can be passed by %s', async (params, read) => {
    const given = { text: 'ä "quoted" = \n', list: [1, null], big: 'x'.repeat(60_000) };
    const manifest = { container: { image: BASE_IMAGE, params }, capabilities: {} };
    const outcome = await run(
      `
      print(json.dumps({"got": json.loads(${read}), "rest": sys.stdin.read()}))
    `,
      manifest,
      given,
    );
    expect(outcome, JSON.stringify(outcome)).toMatchObject({ ok: true, result: { got: given, rest: '' } });
  });
}
