/**
 * Loads a part of the public API: the source in a clone, the build in an installed package. Plain JavaScript, because
 * an old Node must get as far as the sentence that says what is wrong.
 *
 * @module
 */
import { existsSync } from 'fs';
import { createRequire } from 'module';
import { fileURLToPath } from 'url';
import { OLDEST_NODE, runsHere } from '../bin/oldest-node.js';

/** Synchronous, so that CommonJS programs can require it too. */
export function load(name) {
  if (!runsHere()) {
    throw new Error(
      `The library skillcell needs Node ${OLDEST_NODE} or newer, and this is Node ${process.versions.node}. Run your ` +
        `program on a newer Node, for example with \`npx node@${OLDEST_NODE} program.mjs\`, or start \`npx skillcell serve\`, which brings its own.`,
    );
  }
  const source = fileURLToPath(new URL(`../src/${name}.ts`, import.meta.url));
  const build = fileURLToPath(new URL(`../dist/src/${name}.js`, import.meta.url));
  return createRequire(import.meta.url)(existsSync(source) ? source : build);
}
