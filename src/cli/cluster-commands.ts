/**
 * The commands of a cluster.
 *
 * @module
 */
import type { Command } from 'commander';
import type { InitClusterFlags, SetupFlags } from './commands/cluster.ts';
import type { WorkerFlags } from './commands/worker.ts';
import { collect, example, withClusterOptions, type ClusterFlags, type Done } from './shared-options.ts';

export function addCluster(program: Command, done: Done): void {
  withClusterOptions(program.command('worker'))
    .description('run calls of a cluster')
    .option('--pool <name>', 'pool of workers with the same policy and walls', 'default')
    .option('--slots <n>', 'calls at the same time (default: number of CPUs)')
    .option('--tenant <name>', 'only calls of this tenant; repeatable', collect)
    .option('--tenants <file>', 'tenants that share nothing: workspace, secrets and policy of each')
    .option('--workspace <dir>', 'folder that ${workspace} in manifests stands for')
    .option('--no-bundles', 'run only skills that are installed here')
    .option('--drain <duration>', 'time that running calls get to finish on shutdown', '30s')
    .option('--env <name>', 'variable or secret that skills may use without approval; repeatable', collect)
    .option('--policy <file>', 'operator policy (default: every skillcell.policy.yaml here and above)')
    .option('--keep-content', 'store parameters and results in the receipts instead of only their digests')
    .addHelpText(
      'after',
      example('worker --cluster nats://127.0.0.1:4222 --cluster-key keys/w1.nk --name w1'),
    )
    .action(async (options: WorkerFlags) => {
      const { worker } = await import('./commands/worker.ts');
      done(await worker(options));
    });
  const cluster = program.command('cluster').description('prepare and inspect a cluster');
  addInit(cluster, done);
  withClusterOptions(cluster.command('setup'))
    .description('create or adjust streams and queues; needs the key of the role admin')
    .option(
      '--tenant <name>',
      'tenant, with the calls that may run at the same time: acme=20; repeatable',
      collect,
    )
    .option('--pool <name>', 'pool of workers; repeatable (default: default)', collect)
    .option('--queue <n>', 'calls of one tenant that may wait in a pool', '1000')
    .option('--queue-of-all <n>', 'calls of all tenants that may wait (default: 50 times --queue)')
    .option('--replicas <n>', 'servers that keep each message: 1 or 3', '1')
    .option('--json', 'print JSON')
    .addHelpText('after', example('cluster setup --cluster nats://127.0.0.1:4222 --tenant acme=20'))
    .action(async (options: SetupFlags) => {
      const { clusterSetup } = await import('./commands/cluster.ts');
      done(await clusterSetup(options));
    });
  withClusterOptions(cluster.command('status', { isDefault: true }))
    .description('list the workers')
    .option('--json', 'print JSON')
    .addHelpText('after', example('cluster status --cluster nats://127.0.0.1:4222'))
    .action(async (options: ClusterFlags & { json?: boolean }) => {
      const { clusterStatus } = await import('./commands/cluster.ts');
      done(await clusterStatus(options));
    });
}

function addInit(cluster: Command, done: Done): void {
  cluster
    .command('init')
    .argument('<folder>', 'new folder for the keys and the configuration')
    .argument('<keys...>', 'ROLE:NAME or ROLE:NAME:TENANTS:POOLS; roles: front, worker, auditor')
    .description('write an NKey for each process, and the configuration of a server that knows them')
    .option('--listen <address>', 'address of the server', '127.0.0.1:4222')
    .option('--store <dir>', 'where the server keeps streams (default: in the folder)')
    .option('--tls-cert <file>', 'certificate of the server')
    .option('--tls-key <file>', 'key of that certificate')
    .option('--tls-ca <file>', 'certificate authority of clients, which then need a certificate')
    .option('--json', 'print JSON')
    .addHelpText('after', example('cluster init keys front:web worker:w1 worker:w2:acme:default'))
    .action(async (folder: string, keys: string[], options: InitClusterFlags) => {
      const { clusterInit } = await import('./commands/cluster.ts');
      done(clusterInit(folder, keys, options));
    });
}
