/**
 * Stages the Python harness with its bytecode: compiling it anew in every cell would cost milliseconds per call.
 *
 * @module
 */
import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../package-root.ts';
import type { Interpreter } from './interpreter.ts';
import { makeReadable } from '../readable.ts';

/**
 * Folder of the staged harness; made on first use of this version with this interpreter. Without one it has no bytecode:
 * for a Python that is in an image alone.
 */
export function stageHarness(home: string, interpreter: Interpreter | undefined): string {
  const source = join(packageRoot(), 'guest', 'python');
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.py'))
    .toSorted();
  const staged = join(home, 'harness', harnessKey(source, files, interpreter));
  if (!existsSync(staged)) build({ source, files, staged, interpreter });
  return staged;
}

function harnessKey(source: string, files: string[], interpreter: Interpreter | undefined): string {
  const hash = createHash('sha256').update(`${interpreter?.path}\0${interpreter?.version}\0`);
  for (const name of files)
    hash
      .update(`${name}\0`)
      .update(readFileSync(join(source, name)))
      .update('\0');
  return hash.digest('hex').slice(0, 32);
}

interface BuildOptions {
  source: string;
  files: string[];
  staged: string;
  interpreter: Interpreter | undefined;
}

function build({ source, files, staged, interpreter }: BuildOptions): void {
  const draft = `${staged}.${randomBytes(6).toString('hex')}`;
  for (const name of files) cpSync(join(source, name), join(draft, name));
  if (interpreter) compile(draft, interpreter);
  makeReadable(draft);
  try {
    renameSync(draft, staged);
  } catch (error) {
    // Another process was faster with the same content.
    rmSync(draft, { recursive: true, force: true });
    if (!existsSync(staged)) throw error;
  }
}

function compile(folder: string, { path }: Interpreter): void {
  // Unchecked: the copy never changes, so no stat is needed to trust the bytecode.
  const mode = ['--invalidation-mode', 'unchecked-hash'];
  execFileSync(path, ['-I', '-m', 'compileall', '-q', ...mode, '.'], { cwd: folder, env: {} });
}
