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

const start = runsHere() ? runInPlace : handOver;
start(process.argv.slice(2)).then(
  (code) => {
    // Not process.exit(): it would cut off what is still on its way into a pipe.
    process.exitCode = code;
  },
  (error) => {
    console.error('Skillcell could not start. This is a defect in Skillcell: please report it.', error);
    process.exitCode = INTERNAL;
  },
);

function handOver(args) {
  return runOnBundledNode([fileURLToPath(import.meta.url), ...args]);
}

async function runInPlace(args) {
  const { useCompileCache } = await import('./compile-cache.js');
  useCompileCache();
  // A checkout runs its source. A published package has only the build: Node strips no types below node_modules.
  const source = new URL('../src/cli/main.ts', import.meta.url);
  const build = new URL('../dist/src/cli/main.js', import.meta.url);
  const { main } = await import(existsSync(source) ? source.href : build.href);
  return main(args);
}
