/**
 * A docker of a test's own: without a network, with all its files in a folder that goes away with it.
 *
 * @module
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openFolder, removeFolder } from '../../write-skill.ts';

export interface DockerService {
  socket: string;
  close: () => Promise<void>;
}

export async function startDocker(): Promise<DockerService> {
  const folder = openFolder();
  const socket = join(folder, 'docker.sock');
  const places = ['data-root', 'exec-root', 'pidfile'].map((name) => `--${name}=${join(folder, name)}`);
  const quiet = ['--iptables=false', '--ip6tables=false', '--bridge=none', '--log-level=fatal'];
  const service = spawn('dockerd', [`--host=unix://${socket}`, ...places, ...quiet], { stdio: 'ignore' });
  for (let tries = 0; !existsSync(socket) && tries < 600; tries += 1) await sleep(100);
  return {
    socket,
    close: async () => {
      const ended = once(service, 'exit');
      service.kill('SIGTERM');
      await ended;
      removeFolder(folder);
    },
  };
}
