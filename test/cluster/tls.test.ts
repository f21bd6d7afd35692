/**
 * TLS between the processes of a cluster and its servers: the certificate of the server is checked, a client without one that
 * the server knows is refused, and nothing travels unencrypted.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect as connectTcp } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../free-port.ts';
import { ClusterClient, connectCluster, type ClusterOptions } from '../../src/api/cluster.ts';
import { createRuntime } from '../../src/index.ts';
import { packageRoot } from '../../src/package-root.ts';
import { openFolder, removeFolder, writeSkill } from '../write-skill.ts';
import { startServer, type NatsServer } from './nats.ts';
import { startWorker, type WorkerProcess } from './stage.ts';

let folder: string;
let server: NatsServer;
let worker: WorkerProcess;
let url: string;
let port: number;

const file = (name: string): string => join(folder, name);

function openssl(args: readonly string[]): void {
  const { status, stderr } = spawnSync('openssl', args, { encoding: 'utf8', cwd: folder });
  if (status !== 0) throw new Error(stderr);
}

/** An authority, and a certificate for 127.0.0.1 that it signed. */
function makeAuthority(name: string): void {
  openssl([...newKey(`${name}-ca`), '-x509', '-days', '2', '-subj', `/CN=${name}`, '-out', `${name}-ca.pem`]);
}

function makeCertificate(authority: string, name: string, address: string): void {
  openssl([
    ...newKey(name),
    '-subj',
    `/CN=${name}`,
    '-addext',
    `subjectAltName=${address}`,
    '-out',
    `${name}.csr`,
  ]);
  const ca = ['-CA', `${authority}-ca.pem`, '-CAkey', `${authority}-ca.key`, '-CAcreateserial'];
  openssl([
    'x509',
    '-req',
    '-in',
    `${name}.csr`,
    ...ca,
    '-days',
    '2',
    '-copy_extensions',
    'copy',
    '-out',
    `${name}.pem`,
  ]);
}

const newKey = (name: string): string[] => ['req', '-newkey', 'rsa:2048', '-nodes', '-keyout', `${name}.key`];

function place(name: string, more: Partial<ClusterOptions> = {}): ClusterOptions {
  return {
    ...{ url, name, keyFile: file(`keys/${name}.nk`), caFile: file('own-ca.pem') },
    ...{ certFile: file('client.pem'), certKeyFile: file('client.key') },
    ...more,
  };
}

beforeAll(async () => {
  folder = openFolder();
  mkdirSync(file('home-cli'));
  for (const authority of ['own', 'foreign']) makeAuthority(authority);
  makeCertificate('own', 'server', 'IP:127.0.0.1');
  makeCertificate('own', 'client', 'DNS:client');
  makeCertificate('foreign', 'stranger', 'DNS:client');
  port = await freePort();
  url = `tls://127.0.0.1:${port}`;
  const tls = [
    '--tls-cert',
    file('server.pem'),
    '--tls-key',
    file('server.key'),
    '--tls-ca',
    file('own-ca.pem'),
  ];
  cli(['cluster', 'init', file('keys'), 'front:web', 'worker:w1', '--listen', `127.0.0.1:${port}`, ...tls]);
  server = await startServer(file('keys/nats-server.conf'), port);
  const flags = ['--cluster', url, '--cluster-ca', file('own-ca.pem')];
  const client = ['--cluster-cert', file('client.pem'), '--cluster-cert-key', file('client.key')];
  cli(['cluster', 'setup', ...flags, ...client, '--cluster-key', file('keys/admin.nk'), '--tenant', 'acme']);
  writeSkill(folder, {
    id: 'test/echo',
    source: 'def execute(params):\n    return {"echo": "confidential"}',
  });
  worker = await startWorker({
    ...{ name: 'w1', url, folder, env: {} },
    args: ['--cluster-key', file('keys/w1.nk'), ...flags.slice(2), ...client],
  });
});

afterAll(async () => {
  await worker.kill();
  await server.stop();
  removeFolder(folder);
});

function cli(args: string[]): void {
  const { status, stderr } = spawnSync(process.execPath, [join(packageRoot(), 'bin/skillcell.js'), ...args], {
    encoding: 'utf8',
    cwd: folder,
    env: { ...process.env, SKILLCELL_HOME: file('home-cli') },
  });
  expect(status, stderr).toBe(0);
}

describe('a cluster with TLS', () => {
  test('runs a call', async () => {
    const connection = await connectCluster(place('web'));
    await using runtime = createRuntime({ home: file('home-web'), cwd: folder });
    await using client = await ClusterClient.open({ connection, name: 'web', runtime });
    const outcome = await client.execute('test/echo', {}, { tenantName: 'acme', reject: false });
    expect(outcome).toMatchObject({ ok: true, result: { echo: 'confidential' } });
    await client.close();
    await connection.close();
  });

  const REFUSED: { who: string; with: () => Partial<ClusterOptions> }[] = [
    { who: 'that trusts another authority', with: () => ({ caFile: file('foreign-ca.pem') }) },
    { who: 'that trusts only the authorities of the machine', with: () => ({ caFile: undefined }) },
    { who: 'whose address is not in the certificate', with: () => ({ url: `tls://localhost:${port}` }) },
    {
      who: 'with the certificate of a stranger',
      with: () => ({ certFile: file('stranger.pem'), certKeyFile: file('stranger.key') }),
    },
    { who: 'without a certificate', with: () => ({ certFile: undefined, certKeyFile: undefined }) },
    { who: 'without a key', with: () => ({ keyFile: undefined }) },
    {
      who: 'that wants no encryption',
      with: () => ({
        ...{
          url: `nats://127.0.0.1:${port}`,
          caFile: undefined,
          certFile: undefined,
          certKeyFile: undefined,
        },
      }),
    },
  ];

  test.each(REFUSED)('refuses a process $who', async ({ with: more }) => {
    await expect(connectCluster(place('web', more()))).rejects.toMatchObject({ code: 'skill_unavailable' });
  });

  test('is not fooled by a server with the certificate of another authority', async () => {
    const other = await freePort();
    const text = readFileSync(file('keys/nats-server.conf'), 'utf8')
      .replaceAll(`127.0.0.1:${port}`, `127.0.0.1:${other}`)
      .replaceAll('server.pem', 'impostor.pem')
      .replaceAll('server.key', 'impostor.key')
      .replaceAll('own-ca.pem', 'foreign-ca.pem')
      .replace('verify: true', 'verify: false')
      .replace(/store_dir: "[^"]*"/, `store_dir: ${JSON.stringify(file('impostor'))}`);
    makeCertificate('foreign', 'impostor', 'IP:127.0.0.1');
    writeFileSync(file('impostor.conf'), text);
    const impostor = await startServer(file('impostor.conf'), other);
    try {
      const wrong = place('web', { url: `tls://127.0.0.1:${other}` });
      await expect(connectCluster(wrong)).rejects.toMatchObject({ code: 'skill_unavailable' });
      // The impostor works: whoever trusts its authority is served.
      const connection = await connectCluster({ ...wrong, caFile: file('foreign-ca.pem') });
      await connection.close();
    } finally {
      await impostor.stop();
    }
  });

  test('never falls back to plain text, whatever a server says', async () => {
    const plain = await freePort();
    writeFileSync(file('plain.conf'), `listen: "127.0.0.1:${plain}"`);
    const without = await startServer(file('plain.conf'), plain);
    try {
      for (const scheme of ['tls', 'nats']) {
        const wanted = place('web', { url: `${scheme}://127.0.0.1:${plain}` });
        await expect(connectCluster(wanted)).rejects.toMatchObject({ code: 'skill_unavailable' });
      }
    } finally {
      await without.stop();
    }
  });

  test('accepts a certificate for "localhost" only from a server of that name', async () => {
    const other = await freePort();
    makeCertificate('own', 'local', 'DNS:localhost');
    const text = readFileSync(file('keys/nats-server.conf'), 'utf8')
      .replaceAll(`127.0.0.1:${port}`, `127.0.0.1:${other}`)
      .replaceAll('server.pem', 'local.pem')
      .replaceAll('server.key', 'local.key')
      .replace(/store_dir: "[^"]*"/, `store_dir: ${JSON.stringify(file('local'))}`);
    writeFileSync(file('local.conf'), text);
    const local = await startServer(file('local.conf'), other);
    try {
      const byAddress = place('web', { url: `tls://127.0.0.1:${other}` });
      await expect(connectCluster(byAddress)).rejects.toMatchObject({ code: 'skill_unavailable' });
      await (await connectCluster(place('web', { url: `tls://localhost:${other}` }))).close();
    } finally {
      await local.stop();
    }
  });

  test('offers encryption only: the server closes a connection that sends plain text', async () => {
    const socket = connectTcp(port, '127.0.0.1');
    let answer = '';
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString('latin1')));
    socket.on('error', () => undefined);
    socket.write('CONNECT {"verbose":true}\r\nPING\r\n');
    await new Promise((resolve) => socket.once('close', resolve));
    expect(answer).not.toContain('PONG');
  });
});
