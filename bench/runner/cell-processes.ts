/**
 * The processes of the cells that this process has started, and what /proc tells about them.
 *
 * @module
 */
import { readdirSync, readFileSync } from 'node:fs';

/** Pids of each cell: the tree of processes that has a bwrap right below this process. */
export function cellProcesses(): number[][] {
  const parents = readParents();
  return [...parents]
    .filter(([pid, parent]) => parent === process.pid && readProc(pid, 'comm').trim() === 'bwrap')
    .map(([root]) => treeOf(root, parents));
}

/** Empty when the process is gone or not ours to read. */
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
