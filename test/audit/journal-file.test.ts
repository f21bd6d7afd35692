import { readFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { JournalFile } from '../../src/audit/journal-file.ts';
import { failingDisk } from './failing-files.ts';
import { folderPerTest } from '../test-folder.ts';

const folder = folderPerTest();
let path: string;

beforeEach(() => {
  path = folder.at('one.journal');
});

function lines(): string[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
}

describe('JournalFile', () => {
  it('writes complete lines to a disk that accepts three bytes at a time', () => {
    const disk = failingDisk();
    disk.atOnce = 3;
    const file = new JournalFile(path, disk);
    file.append('the first line', 0);
    file.append('the second line', 0);
    file.close();
    expect(lines()).toEqual(['the first line', 'the second line']);
  });

  it('refuses a line if there is no room for it and for the lines that must follow', () => {
    const disk = failingDisk();
    const file = new JournalFile(path, disk);
    disk.room = 100;
    file.append('fits', 90);
    expect(() => file.append('fits no more', 90)).toThrow('ENOSPC');
    file.append('fits into what was left for it', 0);
    file.close();
    expect(lines()).toEqual(['fits', 'fits into what was left for it']);
  });

  it('removes a torn line before it writes the next one', () => {
    const disk = failingDisk();
    const file = new JournalFile(path, disk);
    file.assertRoom(1000);
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

  it('reports no room on a failing disk, whatever was reserved before', () => {
    const disk = failingDisk();
    const file = new JournalFile(path, disk);
    file.append('first', 1000);
    disk.fault = 'EIO';
    expect(() => file.assertRoom(100)).toThrow('EIO');
    disk.fault = undefined;
    file.assertRoom(100);
    file.append('next', 0);
    file.close();
    expect(lines()).toEqual(['first', 'next']);
  });

  it('refuses every line until a torn one can be removed', () => {
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
