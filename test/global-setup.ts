/**
 * Prepares what all test files share because it takes seconds: compiled modules of the command, and engines. Created for
 * every run and removed afterwards.
 *
 * @module
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Vitest calls this before the first file, and the returned function after the last one. */
export function setup(): () => void {
  const shared = mkdtempSync(join(tmpdir(), 'skillcell-shared-'));
  process.env['XDG_CACHE_HOME'] = join(shared, 'cache');
  // For the test files themselves and the programs that they start.
  process.env['NODE_COMPILE_CACHE'] = join(shared, 'modules');
  process.env['SKILLCELL_ENGINES'] = join(shared, 'engines');
  return () => rmSync(shared, { recursive: true, force: true });
}
