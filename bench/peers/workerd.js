/** Starts the workerd of the peers, with one socket on which it answers. */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * `files` are the texts that the config embeds, by name; `configOf` returns the text of the config for the folder they are in.
 * Its socket is `socket` in that folder.
 */
export async function serveWorkerd(files, configOf) {
  const program = binary();
  const folder = mkdtempSync(join(tmpdir(), 'skillcell-bench-workerd-'));
  const socketPath = join(folder, 'socket');
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  writeFileSync(join(folder, 'config.capnp'), configOf(folder));
  const args = ['serve', '--experimental', join(folder, 'config.capnp')];
  const server = spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  while (!existsSync(socketPath) && server.exitCode === null) await sleep(10);
  if (!existsSync(socketPath)) throw new Error('workerd did not start');
  const agent = new Agent({ keepAlive: true });
  return {
    folder,
    call: (params) => post({ socketPath, agent }, params),
    close() {
      server.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function post(options, params) {
  return new Promise((resolve, reject) => {
    const asked = request({ ...options, method: 'POST', path: '/' }, (answer) => resolve(text(answer)));
    asked.on('error', reject);
    asked.end(params);
  });
}

/** The binary that the install script would have linked. */
function binary() {
  const require = createRequire(import.meta.url);
  const names = { x64: '@cloudflare/workerd-linux-64', arm64: '@cloudflare/workerd-linux-arm64' };
  return join(dirname(require.resolve(`${names[process.arch]}/package.json`)), 'bin', 'workerd');
}
