/**
 * The commands of a cluster.
 *
 * @module
 */
import { define, defineDefault, withClusterOptions, type CliCommand } from './shared-options.ts';

export function addCluster(program: CliCommand): void {
  define(program, 'worker', 'run calls of a cluster')
    .use(withClusterOptions)
    .option('--pool <name>', 'pool of workers with the same policy and walls', 'default')
    .option('--slots <n>', 'calls at the same time (default: number of CPUs)')
    .repeatable('--tenant <name>', 'only calls of this tenant')
    .option('--tenants <file>', 'tenants that share nothing: workspace, secrets and policy of each')
    .option('--workspace <dir>', 'folder that ${workspace} in manifests stands for')
    .option('--no-bundles', 'run only skills that are installed here')
    .option('--drain <duration>', 'time that running calls get to finish on shutdown', '30s')
    .repeatable('--env <name>', 'variable or secret that skills may use without approval')
    .option('--policy <file>', 'operator policy (default: every skillcell.policy.yaml here and above)')
    .option('--keep-content', 'store parameters and results in the receipts instead of only their digests')
    .example('worker --cluster nats://127.0.0.1:4222 --cluster-key keys/w1.nk --name w1')
    .runs(async () => (await import('./commands/worker.ts')).worker);
  const cluster = define(program, 'cluster', 'prepare and inspect a cluster');
  addInit(cluster);
  define(cluster, 'setup', 'create or adjust streams and queues; needs the key of the role admin')
    .use(withClusterOptions)
    .repeatable('--tenant <name>', 'tenant, with the calls that may run at the same time: acme=20')
    .repeatable('--pool <name>', 'pool of workers', 'default')
    .option('--queue <n>', 'calls of one tenant and skill that may wait', '1000')
    .option('--queue-of-all <n>', 'calls of all tenants that may wait (default: 50 times --queue)')
    .option('--replicas <n>', 'servers that keep each message: 1 or 3', '1')
    .json()
    .example('cluster setup --cluster nats://127.0.0.1:4222 --tenant acme=20')
    .runs(async () => (await import('./commands/cluster.ts')).clusterSetup);
  defineDefault(cluster, 'status', 'list the workers')
    .use(withClusterOptions)
    .json()
    .example('cluster status --cluster nats://127.0.0.1:4222')
    .runs(async () => (await import('./commands/cluster.ts')).clusterStatus);
}

function addInit(cluster: CliCommand): void {
  define(cluster, 'init', 'write an NKey for each process, and the configuration of a server that knows them')
    .argument('<folder>', 'new folder for the keys and the configuration')
    .argument('<keys...>', 'ROLE:NAME or ROLE:NAME:TENANTS:POOLS; roles: front, worker, auditor')
    .option('--listen <address>', 'address of the server', '127.0.0.1:4222')
    .option('--store <dir>', 'where the server keeps streams (default: in the folder)')
    .option('--tls-cert <file>', 'certificate of the server')
    .option('--tls-key <file>', 'key of that certificate')
    .option('--tls-ca <file>', 'certificate authority of clients, which then need a certificate')
    .json()
    .example('cluster init keys front:web worker:w1 worker:w2:acme:default')
    .runs(async () => (await import('./commands/cluster.ts')).clusterInit);
}
