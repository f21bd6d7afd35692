/**
 * What all test files share, because it takes seconds to make and is the same for all: compiled modules of the command, and
 * prepared engines. It is new for every run, and goes with it.
 *
 * @module
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Called by vitest before the first file; the returned function after the last one. */
export function setup(): () => void {
  const shared = mkdtempSync(join(tmpdir(), 'skillcell-shared-'));
  process.env['XDG_CACHE_HOME'] = join(shared, 'cache');
  // For the test files themselves and the programs that they start.
  process.env['NODE_COMPILE_CACHE'] = join(shared, 'modules');
  process.env['SKILLCELL_ENGINES'] = join(shared, 'engines');
  return () => rmSync(shared, { recursive: true, force: true });
}
