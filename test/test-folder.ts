/**
 * A new folder for each test, removed after it.
 *
 * @module
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';

export interface TestFolder {
  readonly path: string;
  /** A path inside it. */
  at(...names: string[]): string;
}

/** To be called outside of tests: it registers the hooks. */
export function folderPerTest(): TestFolder {
  let path = '';
  beforeEach(() => {
    path = mkdtempSync(join(tmpdir(), 'skillcell-test-'));
  });
  afterEach(() => rmSync(path, { recursive: true, force: true }));
  return {
    get path() {
      return path;
    },
    at: (...names) => join(path, ...names),
  };
}
