/**
 * `node scripts/with-node.js <script> [args]`: runs a script on a recent Node, whatever Node starts it.
 *
 * @module
 */
import { runOnRecentNode } from '../bin/hand-over.js';

process.exitCode = await runOnRecentNode(process.argv.slice(2));
