/**
 * What a waiting cell costs: its share of memory (Pss), bubblewrap's own process included.
 *
 * @module
 */
import { readdirSync, readFileSync } from 'node:fs';

/** Bytes per tree of processes that has a bwrap right below this process; undefined where /proc does not tell. */
export function meanCellBytes(): number | undefined {
  const parents = readParents();
  const roots = [...parents]
    .filter(([pid, parent]) => parent === process.pid && nameOf(pid) === 'bwrap')
    .map(([pid]) => pid);
  const shares = roots.flatMap((root) => treeOf(root, parents)).map(pssBytes);
  const known = shares.filter((bytes) => bytes !== undefined);
  if (roots.length === 0 || known.length < shares.length) return undefined;
  return known.reduce((sum, bytes) => sum + bytes, 0) / roots.length;
}

function readParents(): Map<number, number> {
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger);
  return new Map(pids.map((pid) => [pid, Number(/^PPid:\s*(\d+)/m.exec(read(pid, 'status'))?.[1])]));
}

function treeOf(root: number, parents: Map<number, number>): number[] {
  const found = new Set([root]);
  for (const above of found) for (const [pid, parent] of parents) if (parent === above) found.add(pid);
  return [...found];
}

function nameOf(pid: number): string {
  return read(pid, 'comm').trim();
}

function pssBytes(pid: number): number | undefined {
  const kilobytes = /^Pss:\s+(\d+) kB/m.exec(read(pid, 'smaps_rollup'))?.[1];
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
}

/** Empty when the process is gone or not ours to read. */
function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}
