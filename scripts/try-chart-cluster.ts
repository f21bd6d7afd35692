/**
 * Runs what the Helm chart would start for a cluster, as processes on this machine: a NATS server with the keys of
 * `cluster init`, the setup, a worker and the service, each with the arguments that helm renders.
 *
 *     node scripts/with-node.js scripts/try-chart-cluster.ts --helm PATH
 *
 * Run by hand; `scripts/try-chart.ts` checks the manifests. Only addresses and folders are replaced.
 *
 * @module
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { makeToken } from '../src/http/access-file.ts';
import { startServer } from '../test/cluster/nats.ts';
import { freePort } from '../test/free-port.ts';
import { openFolder, removeFolder } from '../test/write-skill.ts';
import { ROOT } from './steps.ts';

const SERVICE = 'try-skillcell-0';
const WORKER = 'try-skillcell-worker-0';
const VALUES = 'nats.tlsSecret=,cluster.caSecret=,workers.onlyInstalled=false,skillSecrets.existingSecret=';
const READY_MS = 120_000;

interface Manifest {
  kind: string;
  metadata: { name: string };
  data?: Record<string, string>;
  spec?: { template?: { spec: { containers: { args: string[] }[] } } };
}

interface Place {
  folder: string;
  nats: number;
  http: number;
}

function render(helm: string): Manifest[] {
  const chart = join(ROOT, 'deploy/helm/skillcell');
  const args = ['template', 'try', chart, '--values', join(chart, 'ci/cluster.yaml'), '--set', VALUES];
  const { status, stdout, stderr } = spawnSync(helm, [...args, '--kube-version', '1.33.0'], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`helm failed: ${stderr}`);
  return parseAllDocuments(stdout).flatMap((document) => (document.toJS() as Manifest | null) ?? []);
}

/** The arguments of a container, with the addresses and folders of this machine. */
function argsOf(
  manifests: readonly Manifest[],
  workload: string,
  { pod, place }: { pod: string; place: Place },
): string[] {
  const found = manifests.find(({ kind, metadata }) => `${kind}/${metadata.name}` === workload);
  const args = found?.spec?.template?.spec.containers[0]?.args;
  if (!args) throw new Error(`The chart has no ${workload}`);
  const { folder, nats, http } = place;
  const replaced: [string, string][] = [
    ['nats://try-skillcell-nats:4222', `nats://127.0.0.1:${nats}`],
    ['/etc/skillcell/cluster/key.nk', join(folder, 'keys', `${pod}.nk`)],
    ['/etc/skillcell/access/access.json', join(folder, 'access.json')],
    ['/etc/skillcell/policy/policy.yaml', join(folder, 'policy.yaml')],
    ['$(POD_NAME)', pod],
    ['--host=0.0.0.0', '--host=127.0.0.1'],
    ['--port=7399', `--port=${http}`],
  ];
  return args.map((arg) => replaced.reduce((text, [from, to]) => text.replace(from, to), arg));
}

function start(args: readonly string[], { folder }: Place, home: string): ChildProcess {
  return spawn(process.execPath, [join(ROOT, 'bin/skillcell.js'), ...args], {
    cwd: folder,
    env: { ...process.env, SKILLCELL_HOME: join(folder, `home-${home}`) },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

async function finish(args: readonly string[], place: Place): Promise<void> {
  const [code] = (await once(start(args, place, 'setup'), 'exit')) as [number | null];
  if (code !== 0) throw new Error(`"skillcell ${args.slice(0, 2).join(' ')}" ended with ${code}`);
}

/** Calls a bundled skill through the service, and reads the metrics that scale the workers. */
async function tryService({ http }: Place, secret: string): Promise<boolean> {
  const ask = (path: string, init: RequestInit = {}): Promise<Response | undefined> =>
    fetch(`http://127.0.0.1:${http}${path}`, {
      ...init,
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    }).catch(() => undefined);
  const until = Date.now() + READY_MS;
  while ((await ask('/readyz'))?.status !== 200 && Date.now() < until) await sleep(500);
  const params = { raw_text: 'Hello there, please kindly', compression_aggression: 'high' };
  const call = await ask('/v1/skills/optimization%2Fprompt_rewriter/execute', {
    method: 'POST',
    body: JSON.stringify({ params }),
  });
  const outcome = await call?.text();
  const metrics = (await (await ask('/metrics'))?.text()) ?? '';
  const exported = metrics.match(/^skillcell_cluster_calls_\w+\{pool="default"\} \d+$/gm) ?? [];
  const results: [string, boolean][] = [
    ['call a skill through the service', call?.status === 200 && (outcome?.includes('"ok":true') ?? false)],
    ['export both metrics of the pool', exported.length === 2],
  ];
  for (const [title, passed] of results) console.log(`${passed ? 'ok    ' : 'FAILED'} ${title}`);
  return results.every(([, passed]) => passed);
}

async function main(): Promise<boolean> {
  const { values } = parseArgs({ options: { helm: { type: 'string', default: 'helm' } } });
  const manifests = render(values.helm);
  const folder = openFolder();
  const place = { folder, nats: await freePort(), http: await freePort() };
  const keys = [`front:${SERVICE}`, `worker:${WORKER}`, '--listen', `127.0.0.1:${place.nats}`];
  await finish(['cluster', 'init', join(folder, 'keys'), ...keys], place);
  const server = await startServer(join(folder, 'keys/nats-server.conf'), place.nats);
  const running: ChildProcess[] = [];
  try {
    const policy = manifests.find(({ kind }) => kind === 'ConfigMap')?.data?.['policy.yaml'] ?? '';
    writeFileSync(join(folder, 'policy.yaml'), policy);
    const { entry, secret } = makeToken({ name: 'try', tenant: 'acme', scopes: ['call', 'metrics'] });
    const rules = { version: 1, tokens: [entry], limits: {}, tenants: {}, skills: {} };
    writeFileSync(join(folder, 'access.json'), JSON.stringify(rules), { mode: 0o600 });
    await finish(argsOf(manifests, 'Job/try-skillcell-setup-1', { pod: 'admin', place }), place);
    const workloads = { 'StatefulSet/try-skillcell-worker': WORKER, 'StatefulSet/try-skillcell': SERVICE };
    for (const [workload, pod] of Object.entries(workloads))
      running.push(start(argsOf(manifests, workload, { pod, place }), place, pod));
    return await tryService(place, secret);
  } finally {
    for (const child of running) await stop(child);
    await server.stop();
    removeFolder(folder);
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
}

if (import.meta.main) process.exitCode = (await main()) ? 0 : 1;
