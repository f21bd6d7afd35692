/**
 * `memory-sampler.ts PID SECONDS`: prints the memory of a process with all its descendants, but without itself, every so
 * many seconds. It is a process of its own, because reading takes long and would delay the calls.
 *
 * @module
 */
import { readdirSync, readFileSync } from 'node:fs';
import { setInterval } from 'node:timers';

const [root, seconds] = process.argv.slice(2).map(Number) as [number, number];
const KIB = 1024;

function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

function field(text: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0);
}

function tree(): Set<number> {
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger);
  const parents = new Map(pids.map((pid) => [pid, field(read(pid, 'status'), 'PPid')]));
  const found = new Set([root]);
  for (const above of found) for (const [pid, parent] of parents) if (parent === above) found.add(pid);
  found.delete(process.pid);
  return found;
}

setInterval(() => {
  const pids = [...tree()];
  const [host = 0, ...others] = pids.map((pid) => field(read(pid, 'smaps_rollup'), 'Pss') * KIB);
  const cells = others.reduce((sum, bytes) => sum + bytes, 0);
  process.stdout.write(`${JSON.stringify({ processes: pids.length, host, cells })}\n`);
}, seconds * 1000);
process.stdin.on('end', () => process.exit(0)).resume();
