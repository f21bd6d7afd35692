/**
 * A disk for journals that fails when it is told to.
 *
 * @module
 */
import { DISK, type JournalFiles } from '../../src/audit/journal-file.ts';

export interface FailingDisk extends JournalFiles {
  /** What every write and creation fails with from now on; undefined: nothing. */
  fault: string | undefined;
  /** Takes so many bytes more, then has no space; undefined: as many as there are. */
  room: number | undefined;
  /** Takes at most so many bytes at once. */
  atOnce: number;
}

export function failingDisk(): FailingDisk {
  const sizes = new Map<number, number>();
  const disk: FailingDisk = {
    ...DISK,
    fault: undefined,
    room: undefined,
    atOnce: Number.POSITIVE_INFINITY,
    create(path) {
      if (disk.fault !== undefined) throw failure(disk.fault);
      const fd = DISK.create(path);
      sizes.set(fd, 0);
      return fd;
    },
    write(fd, bytes, position) {
      if (disk.fault !== undefined) throw failure(disk.fault);
      const size = sizes.get(fd) ?? 0;
      // What is on the disk already can be written over.
      const fits = disk.room === undefined ? bytes.length : Math.max(0, size + disk.room - position);
      const most = Math.min(bytes.length, disk.atOnce, fits);
      if (most === 0) throw failure('ENOSPC');
      const taken = DISK.write(fd, bytes.subarray(0, most), position);
      const grown = Math.max(0, position + taken - size);
      sizes.set(fd, size + grown);
      if (disk.room !== undefined) disk.room -= grown;
      return taken;
    },
  };
  return disk;
}

export function failure(code: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: invented, write`), { code });
}
