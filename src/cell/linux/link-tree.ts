/**
 * Makes files appear in a folder that a running cell has mounted, read-only.
 *
 * @module
 */
import { chmodSync, constants, copyFileSync, linkSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

type Put = (source: string, target: string) => void;

/** Links every regular file below `from`, with its folders. For files whose number of links no skill can see. */
export function linkTree(from: string, to: string): void {
  putTree(from, to, linkOrCopy);
}

/** Copies every regular file below `from`, with its folders. */
export function copyTree(from: string, to: string): void {
  putTree(from, to, copy);
}

/** `to` must exist: a new folder in its place would not be the one that the cell has mounted. */
function putTree(from: string, to: string, put: Put): void {
  chmodSync(to, 0o755);
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) {
      mkdirSync(target);
      putTree(source, target, put);
    } else if (entry.isFile()) put(source, target);
  }
}

function linkOrCopy(source: string, target: string): void {
  try {
    linkSync(source, target);
  } catch {
    // Another file system, or links to files of other users are forbidden.
    copy(source, target);
  }
}

/** The copy belongs to the host and is readable for the user of the cell. */
function copy(source: string, target: string): void {
  copyFileSync(source, target, constants.COPYFILE_FICLONE);
  chmodSync(target, 0o644);
}
