/**
 * A private docker daemon: without a network, with all its files in one folder, removed when it is closed.
 *
 * @module
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const PATIENCE_MS = 60_000;
const LOOK_EVERY_MS = 50;
const NO_NETWORK = ['--iptables=false', '--ip6tables=false', '--bridge=none'];

export interface DockerService {
  socket: string;
  close: () => Promise<void>;
}

/** Resolves when it listens, or if it does not start in time; a user of the socket will then get an error. */
export async function startDocker(): Promise<DockerService> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'skillcell-docker-')));
  const socket = join(folder, 'docker.sock');
  const places = ['data-root', 'exec-root', 'pidfile'].map((name) => `--${name}=${join(folder, name)}`);
  const args = [`--host=unix://${socket}`, ...places, ...NO_NETWORK, '--log-level=fatal'];
  const service = spawn('dockerd', args, { stdio: 'ignore' });
  const gone = new Promise<void>((resolve) => {
    service.once('error', () => resolve());
    service.once('exit', () => resolve());
  });
  for (let waited = 0; !existsSync(socket) && waited < PATIENCE_MS; waited += LOOK_EVERY_MS)
    await Promise.race([sleep(LOOK_EVERY_MS), gone]);
  const close = async (): Promise<void> => {
    service.kill('SIGTERM');
    await gone;
    rmSync(folder, { recursive: true, force: true });
  };
  return { socket, close };
}
