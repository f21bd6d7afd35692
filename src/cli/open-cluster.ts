/**
 * The connection of a command to a cluster.
 *
 * @module
 */
import { hostname } from 'node:os';
import { SkillError } from '../inside.ts';
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

/** Refuses options that would have no effect. */
export function assertNoCluster({ cluster, ...others }: ClusterFlags): void {
  const options: [string, unknown][] = [
    ['--cluster-key', others.clusterKey],
    ['--cluster-ca', others.clusterCa],
    ['--cluster-cert', others.clusterCert],
    ['--cluster-cert-key', others.clusterCertKey],
    ['--name', others.name],
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
