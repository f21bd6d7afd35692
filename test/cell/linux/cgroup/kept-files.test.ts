import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { KeptFiles } from '../../../../src/cell/linux/cgroup/kept-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'skillcell-kept-'));
const file = join(folder, 'counter');
afterAll(() => rmSync(folder, { recursive: true }));

const openHere = (): number => readdirSync('/proc/self/fd').length;

describe('files of a group', () => {
  test('are read anew each time, from one descriptor', () => {
    const files = new KeptFiles();
    files.keep();
    writeFileSync(file, '1\n');
    expect(files.number(file)).toBe(1);
    const before = openHere();
    writeFileSync(file, '22\n');
    expect(files.number(file)).toBe(22);
    files.write(file, 7);
    files.write(file, 8);
    expect(readFileSync(file, 'utf8')).toMatch(/^8/);
    expect(openHere()).toBe(before + 1);
    files.close();
    expect(openHere()).toBe(before - 1);
  });

  test('stay open only when asked to, and not after the end of the group', () => {
    const before = openHere();
    const closed = new KeptFiles();
    closed.keep();
    closed.close();
    for (const files of [closed, new KeptFiles()]) {
      writeFileSync(file, '5');
      expect(files.number(file)).toBe(5);
      files.write(file, 6);
      expect(files.read(file)).toBe('6');
    }
    expect(openHere()).toBe(before);
  });

  test('may be missing, or hold no number', () => {
    const files = new KeptFiles();
    files.keep();
    expect(files.read(join(folder, 'none'))).toBeUndefined();
    expect(files.number(join(folder, 'none'))).toBeUndefined();
    expect(() => files.write(join(folder, 'none'), 1)).toThrow('ENOENT');
    writeFileSync(file, 'max');
    expect(files.number(file)).toBeUndefined();
    files.close();
  });
});
