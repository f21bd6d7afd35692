/**
 * Ends this process when the one that stands for it is gone: our own process that handed over, or npm's. Killing the
 * pid of `npx skillcell serve` must not leave a server behind. Any other parent may go: a server started with `&` stays.
 *
 * @module
 */
import { readFileSync } from 'fs';

export const PARENT_VARIABLE = 'SKILLCELL_HANDED_OVER_BY';
const EVERY_MS = 500;

/** Takes the variable out of the environment: it is about this process only. */
export function watchParent() {
  const handedOverBy = process.env[PARENT_VARIABLE];
  delete process.env[PARENT_VARIABLE];
  const watched = handedOverBy === undefined ? npmAbove() : [[Number(handedOverBy), process.pid]];
  if (watched.length === 0) return;
  setInterval(() => {
    if (watched.every(([parent, child]) => parentOf(child) === parent)) return;
    // The same as if the signal had been sent to us: running calls end, receipts are written.
    process.kill(process.pid, 'SIGTERM');
    watched.length = 0;
  }, EVERY_MS).unref();
}

/** Pairs of parent and child up to npm, with the shell that it may start in between. */
function npmAbove() {
  if (process.env.npm_command === undefined) return [];
  const pairs = [];
  for (let child = process.pid; pairs.length < 3; child = pairs[pairs.length - 1][0]) {
    const parent = parentOf(child);
    if (parent === undefined || parent <= 1) return [];
    pairs.push([parent, child]);
    if (/^(?:npm|npx|node)/.test(nameOf(parent))) return pairs;
  }
  return [];
}

function parentOf(pid) {
  if (pid === process.pid) return process.ppid;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return undefined;
  }
}

function nameOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    return '';
  }
}
