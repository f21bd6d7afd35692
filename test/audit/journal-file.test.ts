import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { JournalFile } from '../../src/audit/journal-file.ts';
import { failingDisk } from './failing-files.ts';

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'skillcell-journal-file-'));
  path = join(folder, 'one.journal');
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function lines(): string[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
}

describe('JournalFile', () => {
  it('writes whole lines through a disk that takes three bytes at a time', () => {
    const disk = failingDisk();
    disk.atOnce = 3;
    const file = new JournalFile(path, disk);
    file.append('the first line', 0);
    file.append('the second line', 0);
    file.close();
    expect(lines()).toEqual(['the first line', 'the second line']);
  });

  it('takes no line when there is no room for it and for what it has to leave', () => {
    const disk = failingDisk();
    const file = new JournalFile(path, disk);
    disk.room = 100;
    file.append('fits', 90);
    expect(() => file.append('fits no more', 90)).toThrow('ENOSPC');
    file.append('fits into what was left for it', 0);
    file.close();
    expect(lines()).toEqual(['fits', 'fits into what was left for it']);
  });

  it('removes the part of a line that was torn before it writes the next one', () => {
    const disk = failingDisk();
    const file = new JournalFile(path, disk);
    file.reserve(1000);
    disk.atOnce = 10;
    const write = disk.write.bind(disk);
    let left = 2;
    disk.write = (...args) => {
      if (left-- === 0) throw new Error('EIO: invented');
      return write(...args);
    };
    expect(() => file.append('{"call_id":"a","of":{"call_id":"b"}}', 0)).toThrow('EIO');
    disk.write = write;
    file.append('{}', 0);
    file.close();
    expect(lines()).toEqual(['{}']);
  });

  it('refuses every line while a torn one cannot be removed', () => {
    const disk = failingDisk();
    const file = new JournalFile(path, disk);
    file.append('first', 100);
    disk.atOnce = 4;
    const write = disk.write.bind(disk);
    let left = 1;
    disk.write = (...args) => {
      if (left-- <= 0) throw new Error('EIO: invented');
      return write(...args);
    };
    expect(() => file.append('a torn line', 0)).toThrow('EIO');
    expect(() => file.append('next', 0)).toThrow('EIO');
    disk.write = write;
    file.append('next', 0);
    file.close();
    expect(lines()).toEqual(['first', 'next']);
  });
});
