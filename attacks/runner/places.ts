/**
 * Where the corpus lies: its programs are data, and stay in place when the code around them is built.
 *
 * @module
 */
import { join } from 'node:path';
import { packageRoot } from '../../src/package-root.ts';

export const ATTACKS_DIR: string = join(packageRoot(), 'attacks');
