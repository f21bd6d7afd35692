/**
 * Reads a small file of a project, which may have come with a clone: never through a link, never a device or a pipe, and
 * never more than the cap.
 *
 * @module
 */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { assertAbsent } from './absent.ts';

/** Undefined if there is none. `refuse` makes the error of a file that may not be read. */
export function readPlainFile(
  file: string,
  maxBytes: number,
  refuse: (reason: string) => Error,
): string | undefined {
  let fd: number;
  try {
    fd = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ELOOP') throw refuse('it is a symbolic link');
    assertAbsent(error, file);
    return undefined;
  }
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw refuse('it is not a regular file');
    if (stat.size > maxBytes) throw refuse(`it is larger than ${maxBytes} bytes`);
    const bytes = Buffer.alloc(stat.size);
    return bytes.toString('utf8', 0, readSync(fd, bytes, 0, bytes.length, 0));
  } finally {
    closeSync(fd);
  }
}
