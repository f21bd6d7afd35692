/**
 * The connection of a command to a cluster.
 *
 * @module
 */
import { hostname } from 'node:os';
import { type Runtime, SkillError, parseDuration } from '../inside.ts';
import type { ClusterClient } from '../cluster/client.ts';
import type { connectCluster } from '../cluster/connect.ts';
import type { ClusterFlags } from './shared-options.ts';

/** Where a command finds its cluster, as `connectCluster` takes it. */
export interface ClusterPlace {
  url: string;
  name: string;
  keyFile?: string;
  caFile?: string;
  certFile?: string;
  certKeyFile?: string;
}

/** Throws `usage` without an address. */
export function clusterPlace(flags: ClusterFlags, defaultName: string = nameOfHost()): ClusterPlace {
  const { cluster, clusterKey, clusterCa, clusterCert, clusterCertKey, name = defaultName } = flags;
  if (cluster === undefined)
    throw new SkillError('usage', 'There is no cluster to connect to', {
      fix: 'Pass its address: --cluster nats://127.0.0.1:4222',
    });
  return {
    url: cluster,
    name,
    ...(clusterKey === undefined ? {} : { keyFile: clusterKey }),
    ...(clusterCa === undefined ? {} : { caFile: clusterCa }),
    ...(clusterCert === undefined ? {} : { certFile: clusterCert }),
    ...(clusterCertKey === undefined ? {} : { certKeyFile: clusterCertKey }),
  };
}

/** A front end's side of the cluster, as services take it. */
export interface JoinedCluster {
  execute: ClusterClient['execute'];
  obstacle(): string | undefined;
  close(): Promise<void>;
}

export interface FrontFlags extends ClusterFlags {
  clusterPool?: string[];
  clusterWait?: string;
}

export async function joinCluster(flags: FrontFlags, runtime: Runtime): Promise<JoinedCluster> {
  const place = clusterPlace(flags);
  // Only for a cluster, because the packages of NATS are optional.
  const { connectCluster: connect, ClusterClient: Client } = await loadCluster();
  const { clusterPool, clusterWait } = flags;
  const connection = await connect(place);
  const client = await Client.open({
    ...{ connection, runtime, name: place.name },
    ...(clusterPool ? { pools: clusterPool } : {}),
    ...(clusterWait === undefined ? {} : { waitMs: parseDuration(clusterWait) }),
  });
  return {
    execute: (ref, params, options) => client.execute(ref, params, options),
    obstacle: () => (client.workers.length > 0 ? undefined : 'No worker of the cluster announces itself'),
    close: async () => {
      await client.close();
      await connection.close();
    },
  };
}

/** A program and the skills that it calls would run on the machine of the front end. */
export function noPrograms(): SkillError {
  return new SkillError('usage', '--programs and --cluster contradict each other', {
    fix: 'Leave out --programs: workers run skills, not programs of callers.',
  });
}

/** Refuses options that would have no effect. */
export function assertNoCluster({ cluster, ...others }: FrontFlags): void {
  const options: [string, unknown][] = [
    ['--cluster-key', others.clusterKey],
    ['--cluster-ca', others.clusterCa],
    ['--cluster-cert', others.clusterCert],
    ['--cluster-cert-key', others.clusterCertKey],
    ['--name', others.name],
    ['--cluster-pool', others.clusterPool],
    ['--cluster-wait', others.clusterWait],
  ];
  const [useless] = options.find(([, value]) => value !== undefined) ?? [];
  if (cluster !== undefined || useless === undefined) return;
  throw new SkillError('usage', `${useless} has no effect without --cluster`, {
    fix: `Pass --cluster as well, or leave out ${useless}.`,
  });
}

function nameOfHost(): string {
  return hostname()
    .replaceAll(/[^A-Za-z0-9_-]/g, '-')
    .slice(0, 64);
}

async function loadCluster(): Promise<{
  connectCluster: typeof connectCluster;
  ClusterClient: typeof ClusterClient;
}> {
  const [{ connectCluster: connect }, { ClusterClient: Client }] = await Promise.all([
    import('../cluster/connect.ts'),
    import('../cluster/client.ts'),
  ]);
  return { connectCluster: connect, ClusterClient: Client };
}
