/**
 * Finds the package folder, in a checkout and when installed: it holds the guest code and the bundled skills.
 *
 * @module
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export function packageRoot(): string {
  let folder = import.meta.dirname;
  while (!existsSync(join(folder, 'package.json'))) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error(`No package.json above ${import.meta.dirname}`);
    folder = parent;
  }
  return folder;
}

export function packageVersion(): string {
  const { version } = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as {
    version: string;
  };
  return version;
}

/** Set by the bundle of the package (`scripts/bundle.ts`). */
declare const SKILLCELL_BUILD: string | undefined;

/** Identifies the code of this package, for caches of what it computes. Undefined in a checkout, where code changes. */
export function packageBuild(): string | undefined {
  return typeof SKILLCELL_BUILD === 'string' ? SKILLCELL_BUILD : undefined;
}
