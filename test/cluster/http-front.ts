/**
 * `serve --cluster` as a process of its own.
 *
 * @module
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { packageRoot } from '../../src/package-root.ts';
import type { ClusterStage } from './stage.ts';

export interface HttpFront {
  url: string;
  pid: number;
  stop(): Promise<void>;
}

export async function startHttpFront(stage: ClusterStage, args: readonly string[]): Promise<HttpFront> {
  const command = [join(packageRoot(), 'bin/skillcell.js'), 'serve', '--port', '0', '--cluster', stage.url];
  const service = spawn(process.execPath, [...command, '--name', 'web', ...args], {
    cwd: stage.folder,
    // A front end starts no programs: it needs no bubblewrap and no Python.
    env: { ...process.env, PATH: '/nonexistent', SKILLCELL_HOME: join(stage.folder, 'home-web') },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [service.stdout, service.stderr])
    stream.on('data', (chunk: Buffer) => (text = (text + chunk.toString()).slice(-20_000)));
  while (!text.includes('Listening on')) {
    if (service.exitCode !== null) throw new Error(text);
    await sleep(50);
  }
  return {
    url: /Listening on (\S+)/.exec(text)?.[1] ?? '',
    pid: service.pid ?? 0,
    stop: async () => {
      if (service.exitCode !== null || service.signalCode !== null) return;
      const exited = once(service, 'exit');
      service.kill('SIGTERM');
      await exited;
    },
  };
}
