/**
 * Compiles programs that take the place of bwrap, so that a suite decides when a sandbox starts.
 *
 * @module
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/inside.ts';

export const BWRAP: string = realpathSync('/usr/bin/bwrap');

export interface ReplacedBwrap {
  /** The compiled program. */
  readonly program: string;
  /** While this file exists, bwrap waits. */
  readonly hold: string;
  /** The pipe that a held bwrap reads from. */
  readonly gate: string;
}

/** `held-bwrap` waits inside the new sandbox, `late-bwrap` before it starts. */
export function replaceBwrap(folder: string, name: 'held-bwrap' | 'late-bwrap'): ReplacedBwrap {
  const [real, program, gate, hold] = ['bwrap', name, 'gate', 'hold-starts'].map((file) =>
    join(folder, file),
  ) as [string, string, string, string];
  copyFileSync(BWRAP, real);
  execFileSync('mkfifo', ['--mode=666', gate]);
  const defined = Object.entries({ REAL: real, HOLD: hold, GATE: gate }).map(
    ([key, path]) => `-D${key}="${path}"`,
  );
  const source = join(packageRoot(), `test/chaos/${name}.c`);
  execFileSync('clang', ['-Wall', '-Werror', '-O1', ...defined, '-o', program, source]);
  return { program, hold, gate };
}
