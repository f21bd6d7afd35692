/** workerd on a Unix socket: each call is a request for which it loads a fresh isolate, or one to a loaded isolate. */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

const FRESH = `
import job from 'job';
let next = 0;
const code = {
  compatibilityDate: '2025-06-01',
  mainModule: 'main.js',
  modules: {
    'main.js': "import { execute } from './job.js';\\n" +
      'export default { fetch: async (request) => new Response(execute(await request.text())) };',
    'job.js': job,
  },
};
export default {
  fetch: (request, env) => env.LOADER.get('call-' + next++, () => code).getEntrypoint().fetch(request),
};`;
const WARM = `
import { execute } from './job.js';
export default { fetch: async (request) => new Response(execute(await request.text())) };`;

export async function startWorkerd({ fresh }) {
  const program = binary();
  const folder = mkdtempSync(join(tmpdir(), 'skillcell-bench-workerd-'));
  const socketPath = join(folder, 'socket');
  writeFileSync(join(folder, 'main.js'), fresh ? FRESH : WARM);
  writeFileSync(join(folder, 'job.js'), readFileSync(new URL('job.js', import.meta.url)));
  writeFileSync(join(folder, 'config.capnp'), config(fresh, socketPath));
  const args = ['serve', '--experimental', join(folder, 'config.capnp')];
  const server = spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  while (!existsSync(socketPath) && server.exitCode === null) await sleep(10);
  if (!existsSync(socketPath)) throw new Error('workerd did not start');
  const agent = new Agent({ keepAlive: true });
  return {
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

function config(fresh, socketPath) {
  const kind = fresh ? 'text' : 'esModule';
  const name = fresh ? 'job' : 'job.js';
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .main)],
  sockets = [(name = "http", address = "unix:${socketPath}", http = (), service = "main")],
);
const main :Workerd.Worker = (
  modules = [
    (name = "main.js", esModule = embed "main.js"),
    (name = "${name}", ${kind} = embed "job.js"),
  ],
  compatibilityDate = "2025-06-01",
  compatibilityFlags = ["experimental"],
  bindings = [(name = "LOADER", workerLoader = (id = "calls"))],
);
`;
}
