/**
 * `skillcell cluster init | setup | status`
 *
 * @module
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectCluster } from '../../cluster/connect.ts';
import { makeKey, parseKeyRequest } from '../../cluster/keys.ts';
import { serverConfig } from '../../cluster/server-config.ts';
import { ANNOUNCE_MS, Fleet } from '../../cluster/placement.ts';
import { DEFAULT_CONCURRENT, setUpCluster, type TenantShare } from '../../cluster/setup.ts';
import { SkillError, shellWord } from '../../inside.ts';
import { clusterPlace } from '../open-cluster.ts';
import { printLine, printNote, printResult, table } from '../output.ts';
import type { ClusterFlags } from '../shared-options.ts';

export interface InitClusterFlags {
  listen: string;
  store?: string;
  tlsCert?: string;
  tlsKey?: string;
  tlsCa?: string;
  json?: boolean;
}

const PRIVATE = 0o600;

/** Writes a key for each process, and the configuration of a server that knows exactly these keys. */
export function clusterInit(folder: string, wanted: readonly string[], flags: InitClusterFlags): number {
  const dir = resolve(folder);
  const config = join(dir, 'nats-server.conf');
  if (existsSync(config))
    throw new SkillError('usage', `${config} exists already`, {
      fix: 'Pass a new folder: this command never replaces keys.',
    });
  const requests = ['admin:admin', ...wanted].map(parseKeyRequest);
  const keys = requests.map(makeKey);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  for (const { name, seed } of keys)
    writeFileSync(join(dir, `${name}.nk`), `${seed}\n`, { mode: PRIVATE, flag: 'wx' });
  const tls = tlsOf(flags);
  const text = serverConfig(keys, {
    listen: flags.listen,
    storeDir: resolve(flags.store ?? join(dir, 'streams')),
    ...(tls ? { tls } : {}),
  });
  writeFileSync(config, text, { mode: PRIVATE, flag: 'wx' });
  if (flags.json) printResult({ config, keys: keys.map(({ name }) => join(dir, `${name}.nk`)) });
  else printLine(`Wrote ${config} and ${keys.length} keys`);
  printNote(`Start the server: nats-server -c ${shellWord(config)}`);
  return 0;
}

function tlsOf({
  tlsCert,
  tlsKey,
  tlsCa,
}: Pick<InitClusterFlags, 'tlsCert' | 'tlsKey' | 'tlsCa'>):
  | { cert: string; key: string; ca?: string }
  | undefined {
  if (tlsCert === undefined && tlsKey === undefined && tlsCa === undefined) return undefined;
  if (tlsCert !== undefined && tlsKey !== undefined)
    return {
      cert: resolve(tlsCert),
      key: resolve(tlsKey),
      ...(tlsCa === undefined ? {} : { ca: resolve(tlsCa) }),
    };
  throw new SkillError('usage', 'TLS needs a certificate and its key', {
    fix: 'Pass both --tls-cert and --tls-key.',
  });
}

export interface SetupFlags extends ClusterFlags {
  tenant?: string[];
  pool?: string[];
  queue: string;
  queueOfAll?: string;
  replicas: string;
  json?: boolean;
}

/** Creates streams, buckets and the queues of tenants, or adjusts them. */
export async function clusterSetup(flags: SetupFlags): Promise<number> {
  const tenants = (flags.tenant ?? ['default']).map(tenantShare);
  const { queueOfAll } = flags;
  const connection = await connectCluster(clusterPlace(flags, 'admin'));
  try {
    await setUpCluster(connection, {
      tenants,
      ...(flags.pool ? { pools: flags.pool } : {}),
      queue: wholeNumber('--queue', flags.queue),
      ...(queueOfAll === undefined ? {} : { queueOfAll: wholeNumber('--queue-of-all', queueOfAll) }),
      replicas: wholeNumber('--replicas', flags.replicas),
    });
  } finally {
    await connection.close();
  }
  if (flags.json) printResult({ tenants: tenants.map(({ name, concurrent }) => ({ name, concurrent })) });
  else printLine(`Set up ${tenants.length === 1 ? '1 tenant' : `${tenants.length} tenants`}`);
  return 0;
}

/** `acme` or `acme=20`, with the calls that may run at the same time. */
function tenantShare(text: string): TenantShare {
  const [name = '', concurrent] = text.split('=');
  if (name === '') throw new SkillError('usage', '--tenant has no name', { fix: 'Pass --tenant acme=20.' });
  return {
    name,
    concurrent: concurrent === undefined ? DEFAULT_CONCURRENT : wholeNumber('--tenant', concurrent),
  };
}

export async function clusterStatus(flags: ClusterFlags & { json?: boolean }): Promise<number> {
  const connection = await connectCluster(clusterPlace(flags));
  const fleet = new Fleet(connection);
  await sleep(2 * ANNOUNCE_MS);
  const workers = fleet.workers.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  fleet.close();
  await connection.close();
  if (flags.json) printResult(workers);
  else if (workers.length === 0) printNote('No worker announces itself.');
  else
    printLine(
      table([
        ['WORKER', 'POOL', 'RUNNING', 'SLOTS', 'POLICY', 'STATE'],
        ...workers.map(({ name, pool, running, slots, policy, isDraining }) => [
          name,
          pool,
          String(running),
          String(slots),
          policy.replace(/^sha256:/, '').slice(0, 12),
          isDraining ? 'draining' : 'ready',
        ]),
      ]),
    );
  return 0;
}

function wholeNumber(option: string, text: string): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number > 0 && Number.isSafeInteger(number)) return number;
  throw new SkillError('usage', `${option} "${text}" is not a positive whole number`, {
    fix: `Pass a number, such as ${option === '--tenant' ? '--tenant acme=20' : `${option} 3`}.`,
  });
}
