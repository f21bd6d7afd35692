/**
 * Keys of a cluster: `cluster init` writes them, everything works with them, and nobody can do what their role does not need.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../free-port.ts';
import { ClusterClient, connectCluster } from '../../src/api/cluster.ts';
import { assertVersion } from '../../src/cluster/connect.ts';
import { Queues } from '../../src/cluster/queues.ts';
import { createRuntime } from '../../src/index.ts';
import { packageRoot } from '../../src/package-root.ts';
import { openFolder, removeFolder, writeSkill } from '../write-skill.ts';
import { startServer, type NatsServer } from './nats.ts';
import { startWorker, type WorkerProcess } from './stage.ts';

type Connection = Awaited<ReturnType<typeof connectCluster>>;

const ROLES = [
  ...['front:web', 'front:acmeweb:acme', 'front:bobweb:bob', 'worker:w1', 'worker:w2', 'auditor:eve'],
  // Its consumers, stores and marks are those of one tenant.
  'worker:w3:acme:default',
];

let folder: string;
let keys: string;
let server: NatsServer;
let worker: WorkerProcess;
const opened: Connection[] = [];

function cli(args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, [join(packageRoot(), 'bin/skillcell.js'), ...args], {
    encoding: 'utf8',
    cwd: folder,
    env: { ...process.env, SKILLCELL_HOME: join(folder, 'home-cli') },
  });
}

async function as(name: string): Promise<Connection> {
  const connection = await connectCluster({ url: server.url, name, keyFile: join(keys, `${name}.nk`) });
  opened.push(connection);
  return connection;
}

beforeAll(async () => {
  folder = openFolder();
  keys = join(folder, 'keys');
  const port = await freePort();
  const made = cli(['cluster', 'init', keys, ...ROLES, '--listen', `127.0.0.1:${port}`]);
  expect(made.stderr).toContain('nats-server -c');
  server = await startServer(join(keys, 'nats-server.conf'), port);
  const queues = ['--queue', '200', '--queue-of-all', '30000'];
  const key = ['--cluster', server.url, '--cluster-key', join(keys, 'admin.nk')];
  expect(cli(['cluster', 'setup', ...key, '--tenant', 'acme=5', '--tenant', 'bob', ...queues])).toMatchObject(
    {
      status: 0,
    },
  );
  writeSkill(folder, {
    id: 'test/echo',
    source: `def execute(params):
    return {"echo": params.get("text", "")}`,
  });
  worker = await startWorker({
    ...{ name: 'w1', url: server.url, folder, env: {} },
    args: ['--cluster-key', join(keys, 'w1.nk')],
  });
});

afterAll(async () => {
  await worker.kill();
  for (const connection of opened) await connection.close();
  await server.stop();
  removeFolder(folder);
});

describe('with keys', () => {
  test.each(['web', 'acmeweb'])(
    'the front end %s can call, with small and large parameters',
    async (name) => {
      const connection = await as(name);
      await using runtime = createRuntime({ home: join(folder, `home-${name}`), cwd: folder });
      await using client = await ClusterClient.open({ connection, name, runtime });
      for (const text of ['hi', 'a'.repeat(600_000)]) {
        const outcome = await client.execute('test/echo', { text }, { tenantName: 'acme', reject: false });
        expect(outcome).toMatchObject({ ok: true });
      }
      const once = { tenantName: 'acme', idempotencyKey: `${name} 1`, reject: false };
      const first = await client.execute('test/echo', { text: 'x' }, once);
      expect(await client.execute('test/echo', { text: 'x' }, once)).toEqual(first);
    },
  );

  test('a worker of one tenant can take its calls', async () => {
    const only = await startWorker({
      ...{ name: 'w3', url: server.url, folder, env: {} },
      args: ['--cluster-key', join(keys, 'w3.nk'), '--tenant', 'acme', '--drain', '1s'],
    });
    await worker.kill();
    const connection = await as('web');
    await using runtime = createRuntime({ home: join(folder, 'home-web'), cwd: folder });
    await using client = await ClusterClient.open({ connection, name: 'web', runtime });
    const call = client.execute(
      'test/echo',
      { text: 'b'.repeat(600_000) },
      { tenantName: 'acme', reject: false },
    );
    expect(await call).toMatchObject({ ok: true });
    await only.kill();
  });

  test('a front end of all tenants knows the queues, and one of a single tenant does not', async () => {
    const workers = [{ pool: 'default', running: 0 }];
    expect(await new Queues(await as('web'), () => workers).read()).toEqual([
      { pool: 'default', waiting: 0, running: 0 },
    ]);
    expect(await new Queues(await as('bobweb'), () => workers).read()).toBeUndefined();
  });

  test('the auditor verifies all chains', () => {
    const flags = ['--cluster', server.url, '--cluster-key', join(keys, 'eve.nk'), '--name', 'eve', '--json'];
    const { status, stdout } = cli(['audit', 'verify', ...flags]);
    const found = JSON.parse(stdout) as { receipts: number; problems: string[] };
    expect(found.problems).toEqual([]);
    expect(found.receipts).toBeGreaterThan(4);
    expect(status).toBe(0);
  });

  test('the queues have the bounds of the setup', async () => {
    const manager = await jetstreamManager(await as('admin'));
    const { config } = await manager.streams.info('SC_CALLS');
    expect(config).toMatchObject({ max_msgs_per_subject: 200, max_msgs: 30_000 });
  });

  test('every file of a key is private', () => {
    for (const name of ['admin', 'web', 'w1', 'eve'])
      expect(statSync(join(keys, `${name}.nk`)).mode & 0o077).toBe(0);
    expect(readFileSync(join(keys, 'nats-server.conf'), 'utf8')).not.toMatch(/\bSU[A-Z2-7]{20}/);
  });
});

/** What the server must refuse. Resolves with what happened instead of a refusal. */
const REFUSED: { who: string; what: string; act: (connection: Connection) => Promise<unknown> }[] = [
  {
    who: 'bobweb',
    what: 'sends a call of another tenant',
    act: (one) => publish(one, 'sc.job.default.acme'),
  },
  {
    who: 'bobweb',
    what: 'hears replies to another front end',
    act: (one) => hear(one, 'sc.reply.acme.acmeweb.*'),
  },
  { who: 'web', what: 'hears replies to another front end', act: (one) => hear(one, 'sc.reply.*.acmeweb.*') },
  { who: 'web', what: 'hears all replies', act: (one) => hear(one, 'sc.reply.>') },
  { who: 'bobweb', what: 'hears the inbox of another', act: (one) => hear(one, '_INBOX_w1.>') },
  { who: 'web', what: 'hears calls', act: (one) => hear(one, 'sc.job.>') },
  { who: 'bobweb', what: 'cancels a call of another tenant', act: (one) => send(one, 'sc.cancel.acme.x') },
  {
    who: 'bobweb',
    what: 'writes a mark of another tenant',
    act: (one) => publish(one, '$KV.sc_marks.acme.x'),
  },
  {
    who: 'bobweb',
    what: 'reads a mark of another tenant',
    act: (one) => ask(one, '$JS.API.DIRECT.GET.KV_sc_marks.$KV.sc_marks.acme.x'),
  },
  {
    who: 'bobweb',
    what: 'reads large parameters of another tenant',
    act: (one) => ask(one, '$JS.API.STREAM.MSG.GET.OBJ_sc_large_acme'),
  },
  {
    who: 'bobweb',
    what: 'lists the queues of all tenants',
    act: (one) => ask(one, '$JS.API.CONSUMER.LIST.SC_CALLS'),
  },
  { who: 'web', what: 'announces a worker', act: (one) => send(one, 'sc.worker.default._.w9') },
  { who: 'web', what: 'writes the chain of a worker', act: (one) => publish(one, 'sc.receipt.w1') },
  { who: 'w2', what: 'writes the chain of another worker', act: (one) => publish(one, 'sc.receipt.w1') },
  { who: 'w2', what: 'announces another worker', act: (one) => send(one, 'sc.worker.default._.w1') },
  { who: 'w2', what: 'puts a call into a queue', act: (one) => publish(one, 'sc.job.default.acme') },
  {
    who: 'w3',
    what: 'takes a call of another tenant',
    act: (one) => ask(one, '$JS.API.CONSUMER.MSG.NEXT.SC_CALLS.P-default-bob'),
  },
  { who: 'w3', what: 'answers a call of another tenant', act: (one) => send(one, 'sc.reply.bob.web.x') },
  { who: 'eve', what: 'sends a call', act: (one) => publish(one, 'sc.job.default.acme') },
  ...['web', 'w2', 'eve'].flatMap((who) => [
    { who, what: 'purges receipts', act: (one: Connection) => ask(one, '$JS.API.STREAM.PURGE.SC_RECEIPTS') },
    { who, what: 'purges the queue', act: (one: Connection) => ask(one, '$JS.API.STREAM.PURGE.SC_CALLS') },
    { who, what: 'reads the queue', act: (one: Connection) => ask(one, '$JS.API.STREAM.MSG.GET.SC_CALLS') },
    {
      who,
      what: 'deletes a consumer',
      act: (one: Connection) => ask(one, '$JS.API.CONSUMER.DELETE.SC_CALLS.P-default-acme'),
    },
    { who, what: 'deletes the queue', act: (one: Connection) => ask(one, '$JS.API.STREAM.DELETE.SC_CALLS') },
    {
      who,
      what: 'changes receipts',
      act: (one: Connection) => ask(one, '$JS.API.STREAM.UPDATE.SC_RECEIPTS'),
    },
  ]),
];

describe('the server refuses that', () => {
  test.each(REFUSED)('$who $what', async ({ who, act }) => {
    const connection = await as(who);
    const violation = violationOf(connection);
    act(connection).catch(() => undefined);
    expect(await violation).toMatch(/permissions violation/i);
  });

  test('nobody connects without a key', async () => {
    await expect(connectCluster({ url: server.url, name: 'web' })).rejects.toMatchObject({
      code: 'skill_unavailable',
    });
  });

  test('even the administrator deletes or purges receipts', async () => {
    const manager = await jetstreamManager(await as('admin'));
    await expect(manager.streams.purge('SC_RECEIPTS')).rejects.toThrow();
    await expect(manager.streams.deleteMessage('SC_RECEIPTS', 1)).rejects.toThrow();
  });
});

describe('a server that ignores the deadline of messages', () => {
  test.each(['2.9.10', '2.10.29', '1.4.0', '', 'latest'])('is refused: %s', (version) => {
    expect(() => assertVersion(version)).toThrow(expect.objectContaining({ code: 'unenforceable' }));
  });

  test.each(['2.11.0', '2.15.2', '3.0.0', '2.12.0-RC.1'])('is not %s', (version) => {
    expect(() => assertVersion(version)).not.toThrow();
  });
});

async function publish(connection: Connection, subject: string): Promise<unknown> {
  return jetstream(connection).publish(subject, 'x', { timeout: 2000 });
}

async function ask(connection: Connection, subject: string): Promise<unknown> {
  return connection.request(subject, '{}', { timeout: 2000 });
}

async function send(connection: Connection, subject: string): Promise<void> {
  connection.publish(subject, 'x');
  await connection.flush();
}

async function hear(connection: Connection, subject: string): Promise<void> {
  connection.subscribe(subject, { callback: () => undefined });
  await connection.flush();
}

/** The first refusal that the connection reports. */
async function violationOf(connection: Connection): Promise<string> {
  const first = (async () => {
    for await (const status of connection.status())
      if (status.type === 'error') return (status as { error: Error }).error.message;
    return 'closed';
  })();
  return Promise.race([first, sleep(60_000).then(() => 'allowed')]);
}
