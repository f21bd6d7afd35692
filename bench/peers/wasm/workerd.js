/** workerd on a Unix socket: each call is a request for which it loads a fresh isolate, or one to a loaded isolate. */
import { readFileSync } from 'node:fs';
import { serveWorkerd } from '../workerd.js';

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

export function startWorkerd({ fresh }) {
  const job = readFileSync(new URL('job.js', import.meta.url), 'utf8');
  const files = { 'main.js': fresh ? FRESH : WARM, 'job.js': job };
  return serveWorkerd(files, (folder) => config(fresh, folder));
}

function config(fresh, folder) {
  const kind = fresh ? 'text' : 'esModule';
  const name = fresh ? 'job' : 'job.js';
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .main)],
  sockets = [(name = "http", address = "unix:${folder}/socket", http = (), service = "main")],
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
