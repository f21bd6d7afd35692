/**
 * Names of containers. Each identifies the host that owns it, so that containers of a dead host can be found safely.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { isDead, pidNamespace, startOf } from '../../linux/process-identity.ts';

const NAME = /^skillcell-(\d+)-(\d+)-(\d+)-[0-9a-f]+$/;

/** Identifies a process uniquely, because pids are reused. */
export interface Owner {
  pid: number;
  /** In ticks since the machine started. */
  started: string;
  /** The namespace of the pid; 0 if unknown. */
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

/** The owner of a container; undefined if it is not one of ours. */
export function ownerOf(name: string): Owner | undefined {
  const [, pid, started, namespace] = NAME.exec(name) ?? [];
  if (pid === undefined || started === undefined || namespace === undefined) return undefined;
  return { pid: Number(pid), started, namespace };
}

/** True for a container of ours whose host is dead. Only hosts in the same pid namespace can judge that. */
export function isOrphan(name: string): boolean {
  const owner = ownerOf(name);
  if (owner === undefined || owner.namespace !== pidNamespace()) return false;
  const started = startOf(owner.pid);
  return started === undefined ? isDead(owner.pid) : started !== owner.started;
}
