/**
 * A real cluster on loopback: servers, workers as processes of their own, and a front end in this process.
 *
 * @module
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  ClusterClient,
  connectCluster,
  setUpCluster,
  type ClusterClientOptions,
  type SetupOptions,
} from '../../src/api/cluster.ts';
import { createRuntime, type Runtime } from '../../src/index.ts';
import { packageRoot } from '../../src/package-root.ts';
import { openFolder, removeFolder } from '../write-skill.ts';
import { startServers, type NatsServer } from './nats.ts';

type Connection = Awaited<ReturnType<typeof connectCluster>>;

export interface WorkerProcess {
  name: string;
  child: ChildProcess;
  output: () => string;
  kill(signal?: NodeJS.Signals): Promise<void>;
}

export interface ClusterStage extends AsyncDisposable {
  folder: string;
  servers: NatsServer[];
  /** Addresses of all servers. */
  url: string;
  admin: Connection;
  startWorker(name: string, args?: readonly string[], env?: Record<string, string>): Promise<WorkerProcess>;
  startFront(name: string, options?: Partial<ClusterClientOptions>): Promise<Front>;
}

export interface Front {
  client: ClusterClient;
  runtime: Runtime;
  close(): Promise<void>;
}

/** Skills are in `folder/skills`; `folder` is the working directory of all workers. */
export async function openCluster(
  options: Partial<SetupOptions> & { servers?: number; folder?: string } = {},
): Promise<ClusterStage> {
  const folder = options.folder ?? openFolder();
  const servers = await startServers(folder, options.servers ?? 1);
  const url = servers.map((one) => one.url).join(',');
  const admin = await connectCluster({ url, name: 'admin' });
  await patiently(() =>
    setUpCluster(admin, { tenants: [{ name: 'acme' }, { name: 'umbrella' }], ...options }),
  );
  const workers: WorkerProcess[] = [];
  const fronts: Front[] = [];
  return {
    folder,
    servers,
    url,
    admin,
    startWorker: async (name, args = [], env = {}) => {
      const worker = await startWorker({ name, url, folder, args, env });
      workers.push(worker);
      return worker;
    },
    startFront: async (name, more = {}) => {
      const front = await startFront({ name, url, folder, more });
      fronts.push(front);
      return front;
    },
    [Symbol.asyncDispose]: async () => {
      for (const front of fronts) await front.close();
      for (const worker of workers) await worker.kill('SIGKILL');
      await admin.close();
      for (const server of servers) await server.stop();
      removeFolder(folder);
    },
  };
}

interface Place {
  name: string;
  url: string;
  folder: string;
}

async function startFront({
  name,
  url,
  folder,
  more,
}: Place & { more: Partial<ClusterClientOptions> }): Promise<Front> {
  const connection = await connectCluster({ url, name });
  const runtime = createRuntime({ home: join(folder, `home-${name}`), cwd: folder });
  const client = await ClusterClient.open({ connection, name, runtime, waitMs: 60_000, ...more });
  let isOpen = true;
  return {
    client,
    runtime,
    close: async () => {
      if (!isOpen) return;
      isOpen = false;
      await client.close();
      await connection.close();
      await runtime.close();
    },
  };
}

export async function startWorker({
  name,
  url,
  folder,
  args,
  env,
}: Place & { args: readonly string[]; env: Record<string, string> }): Promise<WorkerProcess> {
  const home = join(folder, `home-${name}`);
  mkdirSync(home, { recursive: true });
  const command = [
    join(packageRoot(), 'bin/skillcell.js'),
    'worker',
    '--cluster',
    url,
    '--name',
    name,
    ...args,
  ];
  const child = spawn(process.execPath, command, {
    cwd: folder,
    env: { ...process.env, ...env, SKILLCELL_HOME: home },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (text = (text + chunk.toString()).slice(-20_000)));
  while (!text.includes('takes calls of the pool')) {
    if (child.exitCode !== null) throw new Error(`The worker ${name} ended: ${text}`);
    await sleep(50);
  }
  return {
    name,
    child,
    output: () => text,
    kill: async (signal = 'SIGTERM') => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill(signal);
      await exited;
    },
  };
}

/** Several servers need a moment to find each other. */
async function patiently(act: () => Promise<void>): Promise<void> {
  const until = Date.now() + 60_000;
  for (;;) {
    try {
      return await act();
    } catch (error) {
      if (Date.now() > until) throw error;
      await sleep(500);
    }
  }
}
