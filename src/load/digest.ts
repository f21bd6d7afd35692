/**
 * The digests that identify a bundle. The overall digest depends only on paths and bytes, not on time stamps, owners or
 * the order in which the files were read.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import type { FileDigests } from './bundle.ts';

/** sha256 as plain hex, the form used in `FileDigests`. */
export function sha256(data: Buffer | string): string {
  return createHash('sha256').update(data).digest('hex');
}

/** The digest of a whole bundle: `sha256:` over the sorted lines `path NUL sha256 LF`. */
export function digestFiles(files: FileDigests): string {
  const lines = Object.keys(files)
    .sort()
    .map((path) => `${path}\0${files[path]}\n`);
  return `sha256:${sha256(lines.join(''))}`;
}
