/**
 * Names of containers. Each tells whose it is: a host that died leaves containers that nobody else may take for their own.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { startOf } from '../process-start.ts';

const NAME = /^skillcell-(\d+)-(\d+)-[0-9a-f]+$/;

/** A process for good: a pid alone is given out again. */
export interface Owner {
  pid: number;
  /** In ticks since the machine started. */
  started: string;
}

export function ownOwner(): Owner {
  return { pid: process.pid, started: startOf(process.pid) ?? '0' };
}

/** A new name for a container of this process. */
export function containerName({ pid, started }: Owner): string {
  return `skillcell-${pid}-${started}-${randomBytes(8).toString('hex')}`;
}

/** Whose container this is; undefined when it is none of ours. */
export function ownerOf(name: string): Owner | undefined {
  const [, pid, started] = NAME.exec(name) ?? [];
  return pid === undefined || started === undefined ? undefined : { pid: Number(pid), started };
}

/** Is this a container of ours whose host is gone? */
export function isOrphan(name: string): boolean {
  const owner = ownerOf(name);
  return owner !== undefined && startOf(owner.pid) !== owner.started;
}
