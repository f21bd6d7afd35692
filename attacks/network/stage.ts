/**
 * What is around the cells of the attacks through the gateway: servers on loopback, a lying resolver, three grants,
 * and runtimes whose caps are small enough to be reached.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server as HttpServer } from 'node:http';
import { createServer as createRawServer, type AddressInfo, type Server } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { TLSSocket } from 'node:tls';
import {
  type CellAuthority,
  createAuthority,
  DEFAULT_POLICY,
  type OperatorPolicy,
  type RuntimeOptions,
} from '../../src/for-attacks.ts';
import { writeBundle } from '../runner/attack-source.ts';
import { firstLine } from '../runner/first-line.ts';
import { asUser, NEIGHBOUR } from '../runner/identities.ts';
import { markFiles } from '../runner/marker.ts';
import { ATTACKS_DIR } from '../runner/places.ts';
import { SECRET_MARKER } from '../runner/secret.ts';
import type { GrantName, Ports } from './attack.ts';

const HERE = join(ATTACKS_DIR, 'network');
export const SKILL_DIR: string = join(HERE, 'skill');
export const ROOM_DIR: string = join(HERE, 'room');
const MIB = 1024 * 1024;
/** Maximum number of names that a call may resolve. */
const MOST_NAMES = 8;
/** Nothing is ever sent to any of them, because the checks come first. */
const RESOLVED: Readonly<Record<string, string[]>> = {
  'private.test': ['10.0.0.1'],
  'mixed.test': ['93.184.215.14', '127.0.0.1'],
  'metadata.test': ['169.254.169.254'],
};
const DECLARED = [
  ...Object.keys(RESOLVED),
  '*.many.test',
  ...'169.254.169.254 168.63.129.16 10.0.0.1 100.64.0.1 224.0.0.1'.split(' '),
  ...'fe80::1 fd00::1 64:ff9b::7f00:1 2002:7f00:1::1'.split(' '),
];

export interface NetworkStage extends AsyncDisposable {
  readonly dir: string;
  readonly ports: Ports;
  readonly secret: string;
  /** Value of the skill's key. */
  readonly value: string;
  bundle(grant: GrantName): string;
  /** For a runtime under attack; `seen`: the operator has TLS inspected. */
  runtime(seen: boolean): RuntimeOptions;
  /** What should not have happened since the last question. */
  harm(): Promise<string[]>;
}

export async function openNetworkStage(): Promise<NetworkStage> {
  const dir = await mkdtemp('/var/tmp/skillcell-network-');
  await chmod(dir, 0o755);
  // 32 characters: one attack has to know where its half is.
  const [secret, value] = [0, 0].map(() => SECRET_MARKER + randomBytes(8).toString('hex')) as [
    string,
    string,
  ];
  const signs: string[] = [];
  const web = await startServers({ secret, value }, signs);
  const authority = createAuthority();
  const secure = await startSecure(authority, signs);
  const ports = { ...web.ports, tls: secure.port };
  for (const grant of ['plain', 'seen', 'unread'] as const) await writeSkill(dir, grant, ports);
  const names = new Set<string>();
  return {
    dir,
    ports,
    secret,
    value,
    bundle: (grant) => join(dir, grant),
    runtime: (seen) => runtimeOptions({ seen, value, names, ca: authority.certificate }),
    harm: async () => {
      await web.settled();
      const many = names.size > MOST_NAMES ? [`${names.size} names were resolved`] : [];
      names.clear();
      return [...signs.splice(0), ...many];
    },
    [Symbol.asyncDispose]: async () => {
      await web.stop();
      secure.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

interface RuntimeSettings {
  seen: boolean;
  value: string;
  /** Receives the names that are resolved. */
  names: Set<string>;
  ca: string;
}

function runtimeOptions({ seen, value, names, ca }: RuntimeSettings): RuntimeOptions {
  const allowPrivate = ['127.0.0.1', '127.0.0.2'];
  const policy: OperatorPolicy = {
    ...DEFAULT_POLICY,
    network: { allowPrivate, ...(seen ? { inspectTls: true } : {}) },
  };
  const lookup = async (name: string): Promise<string[]> => {
    if (name.endsWith('.many.test')) names.add(name);
    return RESOLVED[name] ?? [];
  };
  const limits = {
    open: 40,
    requests: 60,
    names: MOST_NAMES,
    requestBytes: MIB,
    responseBytes: 2 * MIB,
    totalBytes: 8 * MIB,
  };
  return {
    policy,
    secrets: () => value,
    allowEnv: ['API_KEY'],
    // Even if a check failed, no packet could leave this machine.
    network: { localAddress: '127.0.0.1', lookup, ca: [ca], timeoutMs: 1500, limits },
    audit: false,
  };
}

async function writeSkill(dir: string, grant: GrantName, { web, tls }: Ports): Promise<void> {
  const open = { host: '127.0.0.1', port: web, scheme: 'http' };
  const plain = [
    { ...open, methods: ['GET'], paths: ['/open/*'] },
    { ...open, methods: ['POST'], paths: ['/post/*'] },
    { ...open, host: '127.0.0.2' },
    ...DECLARED.map((host) => ({ host, scheme: 'http' })),
  ];
  const secure = { host: '127.0.0.1', port: tls };
  const manifest = {
    name: `network/${grant}`,
    version: '1.0.0',
    description: 'Misuses what it may reach.',
    execution: ['subprocess', 'wasm'],
    capabilities: {
      network: {
        plain,
        seen: [{ ...secure, methods: ['GET'], paths: ['/open/*'] }],
        unread: [secure],
      }[grant],
    },
    ...(grant === 'plain'
      ? { env_vars: { API_KEY: { required: true, secret: true, hosts: ['127.0.0.1'] } } }
      : {}),
    limits: { timeout: '20s', cpu: '5s', memory: '128MiB' },
  };
  const source = await readFile(join(SKILL_DIR, 'skill.py'), 'utf8');
  writeBundle(join(dir, grant), { manifest, files: markFiles({ 'skill.py': source }) });
}

interface Servers {
  ports: Pick<Ports, 'web' | 'forbidden'>;
  /** Resolves when everything that happened before has been reported. */
  settled(): Promise<void>;
  stop(): Promise<void>;
}

async function startServers(place: { secret: string; value: string }, signs: string[]): Promise<Servers> {
  const server: ChildProcess = spawn('/usr/bin/python3', ['-I', '-B', join(ROOM_DIR, 'servers.py')], {
    ...asUser(NEIGHBOUR),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: server.stdout! });
  server.stdin!.write(`${JSON.stringify(place)}\n`);
  const hello = await firstLine(lines, 'servers.py');
  const waiting: (() => void)[] = [];
  lines.on('line', (line) => {
    const told: unknown = JSON.parse(line);
    if (typeof told === 'string') signs.push(told);
    else waiting.shift()?.();
  });
  return {
    ports: JSON.parse(hello) as Servers['ports'],
    settled: () =>
      new Promise((resolve) => {
        waiting.push(resolve);
        server.stdin!.write('settled\n');
      }),
    stop: async () => {
      server.stdin!.end();
      await once(server, 'exit');
    },
  };
}

/** Whatever name a client uses, the certificate is the one for the address. */
async function startSecure(
  authority: CellAuthority,
  signs: string[],
): Promise<{ port: number; stop: () => void }> {
  const inner: HttpServer = createServer((request, response) => {
    const target = `${request.method} ${request.url} for ${request.headers.host}`;
    if (!/^GET \/open\/harmless for 127\.0\.0\.1:\d+$/.test(target)) signs.push(`inside of TLS: ${target}`);
    response.end('harmless');
  });
  const server: Server = createRawServer((socket) => {
    const secured = new TLSSocket(socket, {
      isServer: true,
      secureContext: authority.contextFor('127.0.0.1'),
    });
    secured.on('error', () => socket.destroy());
    socket.on('error', () => undefined);
    inner.emit('connection', secured);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const stop = (): void => {
    inner.closeAllConnections();
    server.close();
  };
  return { port: (server.address() as AddressInfo).port, stop };
}
