/**
 * Names of containers. Each tells whose it is: a host that died leaves containers that nobody else may take for their own.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';

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

/** When a process began, in ticks since the machine did; undefined when it is gone. */
export function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name is in parentheses and may itself hold spaces and parentheses.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}
