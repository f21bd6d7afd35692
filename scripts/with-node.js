/**
 * `node scripts/with-node.js <script> [args]`: runs a script on the bundled Node, whatever Node reads this.
 *
 * @module
 */
import { runOnBundledNode } from '../bin/hand-over.js';

process.exitCode = await runOnBundledNode(process.argv.slice(2));
