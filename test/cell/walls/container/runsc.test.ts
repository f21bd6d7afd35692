/**
 * gVisor, chosen by the operator or demanded by a skill: it runs its own kernel between the skill and the host kernel.
 *
 * @module
 */
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { constants, release } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRuntime } from '../../../../src/index.ts';
import type { Outcome } from '../../../../src/outcome.ts';
import { DEFAULT_POLICY } from '../../../../src/policy/operator.ts';
import { writeSkill } from '../../../write-skill.ts';
import type { TestRuntime } from '../../test-runtime.ts';
import { BASE_IMAGE, IN_CONTAINER, openContainerRuntime } from './container-runtime.ts';

const SOURCE = `
  import os
  def execute(params):
      if params:
          held = bytearray(b"x") * (600 << 20)
      return {"kernel": os.uname().release, "uid": os.getuid(), "pid": os.getpid()}
`;

let opened: TestRuntime;
beforeAll(async () => void (opened = await openContainerRuntime('runsc', { pool: { size: 0 } })));
afterAll(() => opened.close());

function run(params: unknown, manifest: Record<string, unknown> = {}): Promise<Outcome> {
  const container = { image: BASE_IMAGE, runtime: 'runsc' };
  const dir = writeSkill(opened.folder, {
    manifest: { ...IN_CONTAINER, container, ...manifest },
    source: SOURCE,
  });
  return opened.runtime.execute(dir, params, { reject: false });
}

function call(source: string, manifest: Record<string, unknown> = {}, workspace?: string): Promise<Outcome> {
  const dir = writeSkill(opened.folder, { manifest: { ...IN_CONTAINER, ...manifest }, source });
  return opened.runtime.execute(
    dir,
    {},
    { reject: false, ...(workspace === undefined ? {} : { workspace }) },
  );
}

test('a skill in gVisor sees another kernel than the host', async () => {
  const outcome = await run({});
  expect(outcome).toMatchObject({ ok: true, result: { uid: 65_534, pid: 1 } });
  expect(outcome.ok && outcome.result).not.toMatchObject({ kernel: release() });
});

test('the memory limit in gVisor covers the whole sandbox', async () => {
  const error = { code: 'resource_exceeded', detail: { limit: 'memory' } };
  expect(await run({ big: true })).toMatchObject({ ok: false, error });
});

test('a process limit, which gVisor does not enforce, is refused', async () => {
  const outcome = await run({}, { limits: { processes: 4 } });
  expect(outcome).toMatchObject({ ok: false, error: { code: 'unenforceable' } });
});

test('a skill that does not ask for gVisor runs in it if the operator chooses it', async () => {
  const dir = writeSkill(opened.folder, { manifest: IN_CONTAINER, source: SOURCE });
  const outcome = await opened.runtime.execute(dir, {}, { reject: false });
  expect(outcome.ok && outcome.result).toMatchObject({ uid: 65_534, pid: 1 });
  expect(outcome.ok && outcome.result).not.toMatchObject({ kernel: release() });
});

test('granted paths can be read and written in gVisor', async () => {
  const workspace = join(opened.folder, 'granted');
  mkdirSync(workspace);
  chmodSync(workspace, 0o777);
  writeFileSync(join(workspace, 'in.txt'), 'from the host');
  const outcome = await call(
    `
    def execute(params):
        open("/workspace/out.txt", "w").write("from the skill")
        return open("/workspace/in.txt").read()
    `,
    { capabilities: { filesystem: [{ path: '${workspace}', access: 'read-write' }] } },
    workspace,
  );
  expect(outcome).toMatchObject({ ok: true, result: 'from the host' });
  expect(readFileSync(join(workspace, 'out.txt'), 'utf8')).toBe('from the skill');
});

test('in gVisor, threads start and clone3 fails with ENOSYS', async () => {
  const outcome = await call(`
    import ctypes, platform, threading
    def execute(params):
        libc, started = ctypes.CDLL(None, use_errno=True), []
        thread = threading.Thread(target=lambda: started.append(True))
        thread.start()
        thread.join()
        libc.syscall(435, None, 0)
        return {"started": started, "clone3": ctypes.get_errno()}
  `);
  expect(outcome).toMatchObject({ ok: true, result: { started: [true], clone3: constants.errno.ENOSYS } });
});

test('select and poll work in gVisor', async () => {
  const outcome = await call(`
    import os, select
    def execute(params):
        ready, wake = os.pipe()
        os.write(wake, b"x")
        poll = select.poll()
        poll.register(ready, select.POLLIN)
        return [len(select.select([ready], [], [], 0)[0]), len(poll.poll(0))]
  `);
  expect(outcome).toMatchObject({ ok: true, result: [1, 1] });
});

test('a skill in gVisor can reach its declared hosts', async () => {
  const server = createServer((_, response) => response.end('reached'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const policy = { ...DEFAULT_POLICY, network: { allowPrivate: ['127.0.0.1'] } };
  await using runtime = createRuntime({
    home: join(opened.folder, 'home'),
    pool: { size: 0 },
    container: { makes: ['runsc'] },
    policy,
  });
  const dir = writeSkill(opened.folder, {
    manifest: {
      ...IN_CONTAINER,
      capabilities: { network: [{ host: '127.0.0.1', port, scheme: 'http' }] },
    },
    source: `
      import urllib.request
      def execute(params):
          return urllib.request.urlopen("http://127.0.0.1:%d/" % params["port"], timeout=10).read().decode()
    `,
  });
  const outcome = await runtime.execute(dir, { port }, { reject: false });
  server.close();
  expect(outcome, JSON.stringify(outcome)).toMatchObject({ ok: true, result: 'reached' });
});
