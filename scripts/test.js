/**
 * `npm test`: starts on the machine's Node and runs everything on a recent one.
 *
 * @module
 */
import { fileURLToPath } from 'node:url';
import { runOnRecentNode } from '../bin/hand-over.js';

process.exitCode = await runOnRecentNode([fileURLToPath(new URL('./run-tests.ts', import.meta.url))]);
