/**
 * The engine's binary: CPython for Wasm, from Pyodide. Only two files of the package are used; its JavaScript is never
 * loaded.
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
export const PYODIDE = {
  version: '314.0.7',
  python: '3.14.2',
  /** Platform tag of wheels with native code for it. */
  platform: 'pyemscripten_2026_0_wasm32',
  sha256: {
    engine: 'cc36e3cab04fdfc9a63ff13eb52eae2b911bf46c025cc7b281f394bd3de1d5e6',
    library: 'fa1957e5777068fc4f7437f96d860ae2fbe9c19732ba06c84e004ec16dd7dd7a',
  },
} as const;

const FILES = { engine: 'pyodide.asm.wasm', library: 'python_stdlib.zip' } as const;

/** Returns the path of a file of the package; undefined if it is not installed. */
type FindFile = (name: string) => string | undefined;

export interface PyodideFiles {
  engine: Buffer;
  library: Buffer;
}

/** Throws unless every file has the pinned digest. */
export function readPyodide(find: FindFile = pathOf): PyodideFiles {
  return { engine: readFile('engine', find), library: readFile('library', find) };
}

/** Whether the package is installed, in any version. */
export function isPyodideInstalled(): boolean {
  return Object.values(FILES).every((name) => pathOf(name) !== undefined);
}

function readFile(kind: keyof typeof FILES, find: FindFile): Buffer {
  const path = find(FILES[kind]);
  if (path === undefined) throw unusable('it is not installed');
  const bytes = readFileSync(path);
  const digest = createHash('sha256').update(bytes).digest('hex');
  if (digest !== PYODIDE.sha256[kind]) throw unusable(`${FILES[kind]} has the sha256 ${digest}`);
  return bytes;
}

function pathOf(name: string): string | undefined {
  try {
    return createRequire(join(packageRoot(), 'package.json')).resolve(`pyodide/${name}`);
  } catch {
    return undefined;
  }
}

function unusable(reason: string): SkillError {
  return new SkillError('skill_unavailable', `The package pyodide cannot be used: ${reason}`, {
    fix: `Install the exact version that Skillcell supports: npm install pyodide@${PYODIDE.version}`,
    detail: { expected: PYODIDE },
  });
}
