/**
 * Names of containers. Each tells whose it is: a host that died leaves containers that nobody else may take for their own.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { isDead, pidNamespace, startOf } from '../process-start.ts';

const NAME = /^skillcell-(\d+)-(\d+)-(\d+)-[0-9a-f]+$/;

/** A process for good: a pid alone is given out again. */
export interface Owner {
  pid: number;
  /** In ticks since the machine started. */
  started: string;
  /** The pid namespace that the pid is one of; 0 when it is not known. */
  namespace: string;
}

export function ownOwner(): Owner {
  return {
    pid: process.pid,
    started: startOf(process.pid) ?? '0',
    namespace: pidNamespace() ?? '0',
  };
}

/** A new name for a container of this process. */
export function containerName({ pid, started, namespace }: Owner): string {
  return `skillcell-${pid}-${started}-${namespace}-${randomBytes(8).toString('hex')}`;
}

/** Whose container this is; undefined when it is none of ours. */
export function ownerOf(name: string): Owner | undefined {
  const [, pid, started, namespace] = NAME.exec(name) ?? [];
  if (pid === undefined || started === undefined || namespace === undefined) return undefined;
  return { pid: Number(pid), started, namespace };
}

/** Is this a container of ours whose host is gone? Those of other pid namespaces are for hosts there to judge. */
export function isOrphan(name: string): boolean {
  const owner = ownerOf(name);
  if (owner === undefined || owner.namespace !== pidNamespace()) return false;
  const started = startOf(owner.pid);
  return started === undefined ? isDead(owner.pid) : started !== owner.started;
}
