/**
 * The engine's binary: QuickJS-NG for Wasm, from the package quickjs-wasi. Only that file is used; the package's
 * JavaScript is never loaded.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { SkillError } from '../../../errors.ts';
import { packageRoot } from '../../../package-root.ts';

/** The build that our import layer was written for and tested with; any other is refused. */
export const QUICKJS = {
  version: '3.6.2',
  sha256: 'd4c9375f2b1ca4dc95f72c8aa2982a7a9951ac8011490d79c6582df732b4bbd9',
} as const;

/** Path of the binary; undefined when it is not installed. */
export function findQuickJs(): string | undefined {
  try {
    return createRequire(join(packageRoot(), 'package.json')).resolve('quickjs-wasi/quickjs.wasm');
  } catch {
    return undefined;
  }
}

/** Throws unless the file has the pinned digest. */
export function readQuickJs(path: string | undefined = findQuickJs()): Buffer {
  if (path === undefined) throw unusable('it is not installed');
  const bytes = readFileSync(path);
  const digest = createHash('sha256').update(bytes).digest('hex');
  if (digest !== QUICKJS.sha256) throw unusable(`quickjs.wasm has the sha256 ${digest}`);
  return bytes;
}

function unusable(reason: string): SkillError {
  return new SkillError('skill_unavailable', `The package quickjs-wasi cannot be used: ${reason}`, {
    fix: `Install the exact version that Skillcell supports: npm install quickjs-wasi@${QUICKJS.version}`,
    detail: { expected: QUICKJS },
  });
}
