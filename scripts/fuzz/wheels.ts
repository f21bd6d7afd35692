/**
 * Mutated wheels, which are zip files, through the program that repacks them. A finding is any end other than a refusal that
 * blames the wheel, or a repacked wheel that cannot be read.
 *
 * @module
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { repackWheel } from '../../src/cell/engines/python-wasm/pure-wheels.ts';
import { SkillError } from '../../src/errors.ts';
import { mutant, randomOf } from './random.ts';
import { fuzzTarget, type FuzzTarget } from './target.ts';
import { zipOf } from './zip-writer.ts';

const run = promisify(execFile);
const PYTHON = '/usr/bin/python3';
const WHEEL = 'demo-1.0-cp311-cp311-linux_x86_64.whl';
const MADE = 'demo-1.0-py3-none-any.whl';
const INFO = 'demo-1.0.dist-info';

/** Text that hardly compresses. */
function randomText(length: number): string {
  const random = randomOf(1);
  return Array.from({ length }, () => String.fromCodePoint(33 + random(94))).join('');
}

const CORPUS: readonly Uint8Array[] = [true, false].map((packed) =>
  zipOf(
    {
      'demo/__init__.py': 'X = 1\n'.repeat(200),
      // Most of the file, and never unpacked, so that not every mutant is refused.
      'demo/fast.cpython-311.so': randomText(4096),
      [`${INFO}/WHEEL`]: 'Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: cp311-cp311-linux_x86_64\n',
      [`${INFO}/METADATA`]: 'Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n',
      [`${INFO}/RECORD`]: '',
    },
    packed,
  ),
);
/** Methods, flags, and sizes at their ends. */
const TELLING_BYTES: readonly number[] = [0, 1, 8, 9, 12, 14, 0x2e, 0x2f, 0x50, 0x7f, 0x80, 0xff];
const RUNS: readonly (readonly number[])[] = [
  [0xff, 0xff, 0xff, 0xff],
  [0xff, 0xff, 0xff, 0x7f],
  [0, 0, 0, 0],
  Array.from(Buffer.from('../../')),
  Array.from(Buffer.from('PK\u0001\u0002')),
];

const use = { folder: '' };

export const wheelTarget: FuzzTarget = fuzzTarget({
  name: 'wheel',
  // Each input starts a program.
  suiteRuns: 60,
  open: () => {
    use.folder = mkdtempSync(join(tmpdir(), 'skillcell-fuzz-'));
    return Promise.resolve(() => Promise.resolve(rmSync(use.folder, { recursive: true, force: true })));
  },
  input: (seed) => mutant({ corpus: CORPUS, seed, bytes: TELLING_BYTES, runs: RUNS }),
  check: async (bytes) => {
    const folder = join(use.folder, 'made');
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder);
    const file = join(use.folder, WHEEL);
    writeFileSync(file, bytes);
    try {
      await repackWheel(PYTHON, file, folder);
    } catch (error) {
      if (error instanceof SkillError && error.code === 'skill_unavailable') return false;
      throw error;
    }
    if (!existsSync(join(folder, MADE))) throw new Error('The wheel was repacked, but the file is missing');
    await run(PYTHON, ['-I', '-m', 'zipfile', '-t', join(folder, MADE)]);
    return true;
  },
});
