/**
 * A disk for journals that fails on request.
 *
 * @module
 */
import { DISK, type JournalFiles } from '../../src/audit/journal-file.ts';

export interface FailingDisk extends JournalFiles {
  /** The error of every write and creation from now on; undefined: none. */
  fault: string | undefined;
  /** Free bytes; undefined: unlimited. */
  room: number | undefined;
  /** Maximum number of bytes per write. */
  atOnce: number;
  /** Makes the removal of files fail. */
  keepsFiles: boolean;
}

export function failingDisk(): FailingDisk {
  const sizes = new Map<number, number>();
  const disk: FailingDisk = {
    ...DISK,
    fault: undefined,
    room: undefined,
    atOnce: Number.POSITIVE_INFINITY,
    keepsFiles: false,
    remove(path) {
      if (disk.keepsFiles) throw failure('EIO');
      DISK.remove(path);
    },
    create(path) {
      if (disk.fault !== undefined) throw failure(disk.fault);
      const fd = DISK.create(path);
      sizes.set(fd, 0);
      return fd;
    },
    write(fd, bytes, position) {
      if (disk.fault !== undefined) throw failure(disk.fault);
      const size = sizes.get(fd) ?? 0;
      // Overwriting existing bytes needs no free space.
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
