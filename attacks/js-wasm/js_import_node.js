/** Imports Node modules. */
import { tryAll } from './import-all.js';

export async function execute(params) {
  return tryAll(
    ['node:fs', 'fs', 'node:child_process', 'node:process', 'node:module', 'node:vm'],
    () => true,
  );
}
