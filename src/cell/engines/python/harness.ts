/**
 * Stages the Python harness with its bytecode, because compiling it again in every cell would cost milliseconds per call.
 *
 * @module
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { sharedEngines } from '../../../load/home.ts';
import { publishSync } from '../../../load/publish.ts';
import { packageRoot } from '../../../package-root.ts';
import { share, takeShared } from '../python-wasm/shared-engines.ts';
import type { Interpreter } from './interpreter.ts';
import { makeReadable } from '../../linux/readable.ts';

/**
 * Returns the folder of the staged harness; creates it on first use of this version with this interpreter. Without an
 * interpreter, e.g. for a Python that exists only in an image, it has no bytecode.
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
  const write = (draft: string): void => {
    for (const name of files) cpSync(join(source, name), join(draft, name));
    if (interpreter) compile(draft, interpreter);
    makeReadable(draft);
  };
  const shared = sharedEngines();
  const name = `harness-${basename(staged)}`;
  if (shared && takeShared(shared, name, staged)) return;
  publishSync(staged, write, { keepsExisting: true });
  if (shared) share(shared, name, staged);
}

function compile(folder: string, { path }: Interpreter): void {
  // Unchecked: the copy never changes, so Python need not stat the source.
  const mode = ['--invalidation-mode', 'unchecked-hash'];
  execFileSync(path, ['-I', '-m', 'compileall', '-q', ...mode, '.'], { cwd: folder, env: {} });
}
