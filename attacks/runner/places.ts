/**
 * The location of this package, in a clone and installed: its programs are data, and stay in place when the code is bundled.
 *
 * @module
 */
import { findPackageJSON } from 'node:module';
import { dirname } from 'node:path';

const DESCRIPTION = findPackageJSON(import.meta.url);
if (DESCRIPTION === undefined) throw new Error(`No package.json above ${import.meta.filename}`);

export const ATTACKS_DIR: string = dirname(DESCRIPTION);
