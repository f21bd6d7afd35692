/**
 * Runs a script on a Node that is recent enough, in place of this process. Plain JavaScript with syntax and
 * imports that old versions of Node support, because an old Node may be the first to load this file.
 *
 * @module
 */
import { spawn } from 'child_process';
import { constants } from 'os';
import { OLDEST_NODE, runsHere } from './oldest-node.js';
import { fetchedNode, nodeBesideUs } from './own-node.js';

/** The exit code of `usage`: nothing ran, and the user can fix it. */
const NOTHING_RAN = 2;
const FORWARDED_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR2'];
/** The terminal sends these to every process in the foreground; forwarding them too would count as a second Ctrl-C. */
const TERMINAL_SIGNALS = new Set(['SIGINT', 'SIGQUIT']);

/**
 * Runs `node ...args` on the Node beside this package, the current one if it is recent enough, or one that is fetched:
 * same stdio, signals and exit code.
 *
 * @param {string[]} args
 * @param {{ env?: Record<string, string> }} options variables to add
 * @returns {Promise<number>} the exit code; 128 + signal number when a signal ended it
 */
export async function runOnRecentNode(args, { env = {} } = {}) {
  let reason = 'the one that was fetched does not start here';
  for (const find of [nodeBesideUs, currentNode, fetchedNode]) {
    try {
      const node = find();
      if (node !== undefined) return await runOn(node, args, { ...process.env, ...env });
    } catch (error) {
      // A binary that does not run on this machine (another C library) counts as missing.
      if (find === fetchedNode && error.syscall === undefined) reason = error.message;
    }
  }
  console.error(
    `Skillcell needs Node ${OLDEST_NODE} or newer. This is Node ${process.versions.node}, and no other could be ` +
      `fetched: ${reason}. Install Node ${OLDEST_NODE} or newer, or make the package registry reachable for npm.`,
  );
  return NOTHING_RAN;
}

function currentNode() {
  return runsHere() ? process.execPath : undefined;
}

function runOn(node, args, env) {
  return new Promise((resolve, reject) => {
    const child = spawn(node, args, { stdio: 'inherit', env });
    const forward = (signal) => {
      if (!(process.stdin.isTTY && TERMINAL_SIGNALS.has(signal))) child.kill(signal);
    };
    for (const signal of FORWARDED_SIGNALS) process.on(signal, forward);
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      for (const forwarded of FORWARDED_SIGNALS) process.off(forwarded, forward);
      resolve(signal === null ? code : 128 + constants.signals[signal]);
    });
  });
}
