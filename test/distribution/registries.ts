/**
 * Real registries on loopback, each with an empty store, until the test file ends.
 *
 * @module
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../free-port.ts';
import { goProgram } from '../../scripts/go-programs.ts';

export interface Registry {
  readonly name: string;
  /** `127.0.0.1:PORT` */
  readonly host: string;
  stop(): Promise<void>;
}

export type RegistryName = 'docker-registry' | 'distribution' | 'referrers';

const START_MS = 60_000;

export interface RegistryOptions {
  /** A file of names and hashed passwords: nobody else may use it. */
  users?: string | undefined;
}

/** `folder` is where it keeps its store. */
export async function startRegistry(
  name: RegistryName,
  folder: string,
  { users }: RegistryOptions = {},
): Promise<Registry> {
  const port = await freePort();
  const host = `127.0.0.1:${port}`;
  mkdirSync(folder, { recursive: true });
  const [program, ...args] = commandFor(name, { folder, host, users });
  const child = spawn(program, args, {
    stdio: 'ignore',
    env: { ...process.env, OTEL_TRACES_EXPORTER: 'none' },
  });
  await untilReady(child, host);
  return { name, host, stop: () => stop(child) };
}

function commandFor(
  name: RegistryName,
  { folder, host, users }: RegistryOptions & { folder: string; host: string },
): [string, ...string[]] {
  if (name === 'referrers') return [goProgram('registry-with-referrers'), host];
  const config = join(folder, 'config.yml');
  const storage = { filesystem: { rootdirectory: join(folder, 'store') }, delete: { enabled: true } };
  // JSON is YAML.
  writeFileSync(
    config,
    JSON.stringify({
      version: 0.1,
      log: { level: 'error' },
      storage,
      http: { addr: host },
      ...(users === undefined ? {} : { auth: { htpasswd: { realm: 'demo', path: users } } }),
    }),
  );
  return [name === 'distribution' ? goProgram('registry') : 'docker-registry', 'serve', config];
}

async function untilReady(child: ChildProcess, host: string): Promise<void> {
  const deadline = Date.now() + START_MS;
  while (Date.now() < deadline && child.exitCode === null) {
    const isReady = await fetch(`http://${host}/v2/`).then(
      ({ ok, status }) => ok || status === 401,
      () => false,
    );
    if (isReady) return;
    await sleep(50);
  }
  child.kill('SIGKILL');
  throw new Error(`The registry at ${host} did not start`);
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await ended;
}
