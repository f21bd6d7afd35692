/**
 * The processes of the cells that this process has started, and their data in /proc.
 *
 * @module
 */
import { readdirSync, readFileSync } from 'node:fs';

/** Pids of each cell: the process tree of each bwrap directly below this process. */
export function cellProcesses(): number[][] {
  const parents = readParents();
  return [...parents]
    .filter(([pid, parent]) => parent === process.pid && readProc(pid, 'comm').trim() === 'bwrap')
    .map(([root]) => treeOf(root, parents));
}

/** Empty if the process is gone or not readable. */
export function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

function readParents(): Map<number, number> {
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger);
  return new Map(pids.map((pid) => [pid, Number(/^PPid:\s*(\d+)/m.exec(readProc(pid, 'status'))?.[1])]));
}

function treeOf(root: number, parents: Map<number, number>): number[] {
  const found = new Set([root]);
  for (const above of found) for (const [pid, parent] of parents) if (parent === above) found.add(pid);
  return [...found];
}
