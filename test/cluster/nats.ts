/**
 * Real NATS servers on loopback, each with a folder of its own, stopped by their process id.
 *
 * @module
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { connect as connectTcp } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../free-port.ts';
import { goProgram } from '../../scripts/go-programs.ts';

export interface NatsServer {
  readonly url: string;
  readonly config: string;
  child: ChildProcess;
  /** Ends it without notice; `start` brings it back with the same store. */
  kill(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

const START_MS = 60_000;

/** One server, or several that form a cluster. */
export async function startServers(folder: string, count = 1): Promise<NatsServer[]> {
  const ports = await Promise.all(Array.from({ length: count * 2 }, freePort));
  const routes = ports.slice(count).map((port) => `nats://127.0.0.1:${port}`);
  return Promise.all(
    ports.slice(0, count).map((port, at) => {
      const dir = join(folder, `nats-${at}`);
      mkdirSync(dir, { recursive: true });
      const cluster =
        count === 1
          ? ''
          : `cluster { name: "test", listen: "127.0.0.1:${ports[count + at]}", routes: ${JSON.stringify(routes)} }\n`;
      const config = join(dir, 'nats.conf');
      writeFileSync(
        config,
        `server_name: "n${at}"\nlisten: "127.0.0.1:${port}"\njetstream { store_dir: ${JSON.stringify(join(dir, 'js'))}, sync_interval: always }\n${cluster}`,
      );
      return startServer(config, port);
    }),
  );
}

export async function startServer(config: string, port: number): Promise<NatsServer> {
  const open = async (): Promise<ChildProcess> => {
    const child = spawn(goProgram('nats-server'), ['-c', config, '-l', `${config}.log`], { stdio: 'ignore' });
    await untilListening(child, port);
    return child;
  };
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const { child } = server;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  };
  const server: NatsServer = {
    url: `nats://127.0.0.1:${port}`,
    config,
    child: await open(),
    kill: () => end('SIGKILL'),
    start: async () => {
      server.child = await open();
    },
    stop: () => end('SIGTERM'),
  };
  return server;
}

async function untilListening(child: ChildProcess, port: number): Promise<void> {
  const deadline = Date.now() + START_MS;
  while (Date.now() < deadline && child.exitCode === null) {
    if (await accepts(port)) return;
    await sleep(50);
  }
  throw new Error(`nats-server does not listen on ${port}`);
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connectTcp(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
