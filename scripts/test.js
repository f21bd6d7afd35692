/**
 * `npm test`: starts on the machine's Node and runs everything on the bundled one.
 *
 * @module
 */
import { fileURLToPath } from 'node:url';
import { runOnBundledNode } from '../bin/hand-over.js';

process.exitCode = await runOnBundledNode([fileURLToPath(new URL('./run-tests.ts', import.meta.url))]);
