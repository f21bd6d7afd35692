/**
 * Finds the Node that ships with the package and runs a script on it. Plain JavaScript in syntax and
 * imports that old versions of Node know, because an old Node is what reads this file first.
 *
 * @module
 */
import { spawn } from 'child_process';
import { createRequire } from 'module';
import { constants } from 'os';
import { join, dirname } from 'path';

const OLDEST_NODE = 24;
/** As the code `usage` in src/errors.ts: nothing ran, and the user can fix it. */
const NOTHING_RAN = 2;
const FORWARDED_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** @returns {boolean} whether the Node that reads this can run Skillcell itself */
export function runsHere() {
  return majorOf(process.versions.node) >= OLDEST_NODE;
}

/** Path of the Node that was installed with this package. */
function bundledNode() {
  const require = createRequire(import.meta.url);
  const description = `${bundledPackage()}/package.json`;
  try {
    // A foreign version hoisted into our place would hand over to itself for ever.
    if (majorOf(require(description).version) < OLDEST_NODE) return undefined;
    return join(dirname(require.resolve(description)), 'bin', 'node');
  } catch {
    return undefined;
  }
}

/**
 * Runs `node ...args` on the bundled Node (on this one if it is missing and this one will do), in this
 * process's place: same stdio, same signals, same end.
 *
 * @param {string[]} args
 * @returns {Promise<number>} the exit code; 128 + signal number when a signal ended it
 */
export async function runOnBundledNode(args) {
  const node = bundledNode() || (runsHere() ? process.execPath : undefined);
  if (node !== undefined) {
    try {
      return await runOn(node, args);
    } catch {
      // The binary is there but not for this machine (another C library): same remedy as none at all.
    }
  }
  console.error(
    `Skillcell needs Node ${OLDEST_NODE} or newer, but this is Node ${process.versions.node} and the ` +
      `bundled one ("${bundledPackage()}") is not installed or does not start here: install without ` +
      `"--omit=optional" on Linux x64 or arm64 with glibc, or install Node ${OLDEST_NODE} or newer.`,
  );
  return NOTHING_RAN;
}

function runOn(node, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(node, args, { stdio: 'inherit' });
    const forward = (signal) => child.kill(signal);
    for (const signal of FORWARDED_SIGNALS) process.on(signal, forward);
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      for (const forwarded of FORWARDED_SIGNALS) process.off(forwarded, forward);
      resolve(signal === null ? code : 128 + constants.signals[signal]);
    });
  });
}

function bundledPackage() {
  return `node-${process.platform}-${process.arch}`;
}

function majorOf(version) {
  return Number(version.split('.')[0]);
}
