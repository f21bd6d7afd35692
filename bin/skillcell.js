#!/usr/bin/env node
/**
 * The command. Starts on any Node that reads ES modules and hands over to the bundled one if this one
 * is too old.
 *
 * @module
 */
import { existsSync } from 'fs';
import { fileURLToPath } from 'url';
import { runOnBundledNode, runsHere } from './hand-over.js';

/** As the code `internal` in src/errors.ts: our fault. */
const INTERNAL = 70;

/** Why something that was printed is not where it should be. */
let unwritten;

const start = runsHere() ? runInPlace : handOver;
start(process.argv.slice(2)).then(
  (code) => exitWith(code),
  (error) => {
    console.error('Skillcell could not start. This is a defect in Skillcell: please report it.', error);
    return exitWith(INTERNAL);
  },
);

/**
 * A skill that ran as a part of this process may have left timers behind: they must not keep it alive. But what is still on
 * its way into a pipe must arrive.
 */
async function exitWith(code) {
  await Promise.all([process.stdout, process.stderr].map(written));
  if (unwritten === undefined) process.exit(code);
  console.error(`Skillcell could not write its output: ${unwritten.message}`);
  process.exit(code || INTERNAL);
}

/** A reader that has gone, as `head` does, wants no more of it: that is no failure. */
function watchOutput() {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error) => {
      if (error.code !== 'EPIPE') unwritten = unwritten || error;
    });
  }
}

/** Resolves also for a reader that has gone. */
function written(stream) {
  return new Promise((resolve) => {
    if (stream.destroyed || stream.writableLength === 0) resolve();
    else stream.write('', () => resolve());
  });
}

function handOver(args) {
  return runOnBundledNode([fileURLToPath(import.meta.url), ...args]);
}

async function runInPlace(args) {
  watchOutput();
  const { useCompileCache } = await import('./compile-cache.js');
  useCompileCache();
  // A checkout runs its source. A published package has only the build: Node strips no types below node_modules.
  const source = new URL('../src/cli/main.ts', import.meta.url);
  const build = new URL('../dist/src/cli/main.js', import.meta.url);
  const { main } = await import(existsSync(source) ? source.href : build.href);
  return main(args);
}
