/**
 * The real executor of `@cloudflare/codemode` in workerd. It loads a Worker per program; the Worker that holds the executor
 * is the host, as the package means it, and runs the tool, or asks this process to run it, over HTTP on a Unix socket.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { serveWorkerd } from '../workerd.js';

/** The answer has the number of calls that the program made, and that of calls that reached the tool in the Worker. */
const MAIN = `
import { DynamicWorkerExecutor } from './index.js';
export default {
  async fetch(request, env) {
    const { source, http } = await request.json();
    let served = 0;
    const here = async () => {
      served++;
      return { words: 1 };
    };
    const elsewhere = async (args) =>
      (await env.NODE.fetch('http://node/', { method: 'POST', body: JSON.stringify(args) })).json();
    const executor = new DynamicWorkerExecutor({ loader: env.LOADER });
    const providers = [{ name: 'tools', fns: { echo: http ? elsewhere : here } }];
    const { result, error } = await executor.execute('async () => {' + source + '}', providers);
    return Response.json(error === undefined ? { made: result, served } : { error });
  },
};`;

/** `http`: whether the tool runs in this process instead of in the Worker. */
export async function startExecutor({ http }) {
  const tool = countingTool();
  const files = { 'main.js': MAIN, ...packageFiles() };
  const workerd = await serveWorkerd(files, (folder) => config(folder, Object.keys(files)));
  if (http) await tool.listen(join(workerd.folder, 'node'));
  return {
    async call(params) {
      const before = tool.served();
      const { made, served, error } = JSON.parse(
        await workerd.call(JSON.stringify({ ...JSON.parse(params), http })),
      );
      return JSON.stringify(error ? { error } : { made, served: http ? tool.served() - before : served });
    },
    close() {
      tool.close();
      workerd.close();
    },
  };
}

function countingTool() {
  let served = 0;
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      served++;
      response.end('{"words":1}');
    });
  });
  return {
    served: () => served,
    listen: (path) => once(server.listen(path), 'listening'),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** The published modules of the package, by the names under which they import each other. It is a dependency of our tests. */
function packageFiles() {
  const index = createRequire(import.meta.url).resolve('@cloudflare/codemode');
  const acorn = join(dirname(createRequire(index).resolve('acorn')), 'acorn.mjs');
  const files = { acorn: readFileSync(acorn, 'utf8') };
  const visit = (name) => {
    files[name] = readFileSync(join(dirname(index), name), 'utf8');
    for (const [, next] of files[name].matchAll(/^import .* from "\.\/(.*)";$/gm))
      if (!files[next]) visit(next);
  };
  visit('index.js');
  return files;
}

function config(folder, names) {
  const modules = names.map((name) => `(name = "${name}", esModule = embed "${name}")`).join(',\n    ');
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .main),
    (name = "node", external = (address = "unix:${folder}/node", http = ())),
  ],
  sockets = [(name = "http", address = "unix:${folder}/socket", http = (), service = "main")],
);
const main :Workerd.Worker = (
  modules = [
    ${modules}
  ],
  compatibilityDate = "2025-06-01",
  compatibilityFlags = ["experimental", "nodejs_compat"],
  bindings = [
    (name = "LOADER", workerLoader = ()),
    (name = "NODE", service = "node"),
  ],
);
`;
}
