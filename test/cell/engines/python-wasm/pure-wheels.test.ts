/**
 * Wheels are repacked without their native code. Zip bombs and malformed wheels are refused, whatever sizes they declare.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { zipOf } from '../../../../scripts/fuzz/zip-writer.ts';
import { repackWheel, WHEEL_LIMITS } from '../../../../src/cell/engines/python-wasm/pure-wheels.ts';

const PYTHON = '/usr/bin/python3';
const INFO = 'demo-1.0.dist-info';
const MIB = 1024 * 1024;
const FILES = {
  'demo/__init__.py': 'X = 1\n',
  'demo/fast.cpython-311-x86_64-linux-gnu.so': 'native',
  [`${INFO}/WHEEL`]: 'Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: cp311-cp311-linux_x86_64\n',
  [`${INFO}/RECORD`]: 'demo/__init__.py,,\n',
};

let folder: string;
let made: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'skillcell-test-'));
  made = join(folder, 'made');
  mkdirSync(made);
});
afterEach(() => rmSync(folder, { recursive: true }));

function repack(bytes: Buffer): Promise<void> {
  const file = join(folder, 'demo-1.0-cp311-cp311-linux_x86_64.whl');
  writeFileSync(file, bytes);
  return repackWheel(PYTHON, file, made);
}

test('a wheel is repacked without its native code and with a matching record', async () => {
  await repack(zipOf(FILES, true));
  const wheel = join(made, 'demo-1.0-py3-none-any.whl');
  const program = `import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); print(z.namelist()); print(z.read("${INFO}/RECORD").decode())`;
  const shown = execFileSync(PYTHON, ['-I', '-c', program, wheel], { encoding: 'utf8' });
  expect(shown).toContain('"demo/__init__.py",sha256=');
  expect(shown).not.toContain('.so');
});

describe('the repacker refuses a wheel', () => {
  const many = Object.fromEntries(
    Array.from({ length: WHEEL_LIMITS.entries + 1 }, (_, n) => [`demo/f${n}.py`, '']),
  );
  const large = Buffer.alloc(WHEEL_LIMITS.entryBytes + 1);
  const parts = Object.fromEntries(
    Array.from({ length: 5 }, (_, n) => [`demo/part${n}.py`, Buffer.alloc(30 * MIB)]),
  );
  const cases: [why: string, bytes: () => Buffer, words: string][] = [
    [
      'with a file that is too large when unpacked',
      () => zipOf({ ...FILES, 'demo/a.py': large }, true),
      'a file has more than',
    ],
    [
      'whose files together are too large',
      () => zipOf({ ...FILES, ...parts }, true),
      'the files have more than',
    ],
    ['with too many files', () => zipOf({ ...FILES, ...many }, false), 'it has more than 5000 files'],
    [
      'with a path outside its folder',
      () => zipOf({ ...FILES, '../../evil.py': 'x' }, true),
      "a file has the name '../../evil.py'",
    ],
    ['without metadata', () => zipOf({ 'demo/__init__.py': '' }, true), 'KeyError'],
    ['that is not a zip file', () => Buffer.from('no zip'), 'File is not a zip file'],
    ['with wrong sizes', () => understated(zipOf({ ...FILES, 'demo/a.py': large }, true)), 'BadZipFile'],
  ];

  test.each(cases)('%s', async (_, bytes, words) => {
    await expect(repack(bytes())).rejects.toMatchObject({
      code: 'skill_unavailable',
      message: expect.stringContaining(words) as unknown,
    });
    expect(readdirSync(made)).toEqual([]);
  });
});

/** Declares the size of the large file as one byte, in both headers. */
function understated(zip: Buffer): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt32LE(WHEEL_LIMITS.entryBytes + 1);
  const wrong = Buffer.from([1, 0, 0, 0]);
  for (let at = zip.indexOf(size); at !== -1; at = zip.indexOf(size, at)) wrong.copy(zip, at);
  return zip;
}
