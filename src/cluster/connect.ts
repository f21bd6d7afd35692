/**
 * A connection to the servers of a cluster.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { checkServerIdentity } from 'node:tls';
import { connect, nkeyAuthenticator, type NatsConnection, type TlsOptions } from '@nats-io/transport-node';
import { SkillError } from '../errors.ts';
import { token } from './names.ts';

/** How to reach a cluster. */
export interface ClusterOptions {
  /** `nats://` or `tls://` addresses, separated by commas. Credentials in them are refused: everyone can read command lines. */
  url: string;
  /** The name of this process in the cluster: of a worker or a front end. */
  name: string;
  /** File with the seed of an NKey; absent: no authentication. */
  keyFile?: string | undefined;
  /** Certificate authority that signed the server's certificate. */
  caFile?: string | undefined;
  /** Client certificate and its key. */
  certFile?: string | undefined;
  certKeyFile?: string | undefined;
}

/** Older servers accept a message TTL and ignore it, so a call could begin long after its deadline. */
const OLDEST_SERVER = [2, 11, 0] as const;
const CONNECT_MS = 10_000;

/** Connects to the servers of a cluster; refuses versions that ignore deadlines. */
export async function connectCluster(options: ClusterOptions): Promise<NatsConnection> {
  const servers = serversOf(options.url);
  const connection = await open(servers, options);
  try {
    assertVersion(connection.info?.version ?? '');
    return connection;
  } catch (error) {
    await connection.close();
    throw error;
  }
}

async function open(servers: string[], options: ClusterOptions): Promise<NatsConnection> {
  const { keyFile, url } = options;
  const seed = keyFile === undefined ? undefined : new TextEncoder().encode(readKey(keyFile));
  const tls = tlsOf(servers, options);
  try {
    return await connect({
      servers,
      name: token(options.name),
      // Every key may read only its own inbox, so that no client reads the replies to another.
      inboxPrefix: inboxOf(options.name),
      maxReconnectAttempts: -1,
      ignoreAuthErrorAbort: true,
      // Otherwise every request records a stack, which no message shows.
      noAsyncTraces: true,
      reconnectTimeWait: 250,
      reconnectJitter: 250,
      timeout: CONNECT_MS,
      ...(seed ? { authenticator: nkeyAuthenticator(seed) } : {}),
      ...(tls ? { tls } : {}),
    });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new SkillError('skill_unavailable', `Cannot connect to the cluster at ${url}: ${reason}`, {
      fix: 'Check that the server runs, that its address is right, and that it knows this key.',
      cause,
    });
  }
}

export function inboxOf(name: string): string {
  return `_INBOX_${token(name)}`;
}

function serversOf(url: string): string[] {
  const servers = url.split(',').map((one) => one.trim());
  for (const server of servers) {
    const parsed = URL.parse(server);
    if (!parsed || !['nats:', 'tls:'].includes(parsed.protocol) || parsed.hostname === '')
      throw new SkillError('usage', `${JSON.stringify(server)} is not an address of a NATS server`, {
        fix: 'Pass an address such as nats://127.0.0.1:4222 or tls://nats.example.com:4222.',
      });
    if (parsed.username !== '' || parsed.password !== '')
      throw new SkillError('usage', 'The address of the cluster contains credentials', {
        fix: 'Remove them, and pass the file of an NKey with --cluster-key.',
      });
  }
  return servers;
}

function tlsOf(servers: readonly string[], options: ClusterOptions): TlsOptions | undefined {
  const { caFile, certFile, certKeyFile } = options;
  const files = {
    ...(caFile === undefined ? {} : { caFile }),
    ...(certFile === undefined ? {} : { certFile }),
    ...(certKeyFile === undefined ? {} : { keyFile: certKeyFile }),
  };
  const wantsTls = servers.some((server) => server.startsWith('tls:'));
  if (!wantsTls && Object.keys(files).length === 0) return undefined;
  return { ...files, checkServerIdentity: identityCheck(servers) } as TlsOptions;
}

/**
 * The client names no host for a server with an IP address, and Node then compares the certificate with "localhost". Such a
 * certificate has to be for one of the addresses that the operator gave.
 */
function identityCheck(servers: readonly string[]): typeof checkServerIdentity {
  const hosts = servers.map((server) => URL.parse(server)?.hostname.replace(/^\[|\]$/g, '') ?? '');
  const addresses = hosts.filter((host) => isIP(host) !== 0);
  return (host, certificate) => {
    if (hosts.includes(host)) return checkServerIdentity(host, certificate);
    const problems = addresses.map((address) => checkServerIdentity(address, certificate));
    if (problems.some((problem) => problem === undefined)) return undefined;
    return problems[0] ?? checkServerIdentity(host, certificate);
  };
}

function readKey(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (cause) {
    throw new SkillError('usage', `Cannot read the key of the cluster ${JSON.stringify(file)}`, {
      fix: 'Pass a file that `skillcell cluster init` wrote.',
      cause,
    });
  }
}

/** Throws for a server that accepts a message TTL and ignores it. */
export function assertVersion(version: string): void {
  const numbers = (/^(\d+)\.(\d+)\.(\d+)/.exec(version) ?? []).slice(1).map(Number);
  const first = OLDEST_SERVER.findIndex((least, at) => (numbers[at] ?? -1) !== least);
  if (first === -1 || (numbers[first] ?? -1) > (OLDEST_SERVER[first] ?? 0)) return;
  const oldest = OLDEST_SERVER.join('.');
  throw new SkillError('unenforceable', `The server of the cluster has the version "${version}"`, {
    fix: `Use nats-server ${oldest} or newer: older ones accept the deadline of a call and ignore it.`,
    detail: { version, oldest },
  });
}
