/**
 * Virtual folders around granted files, for cells that have no mounts. WASI can only open folders, so a file that was
 * granted by itself appears in a folder named like its parent, which contains only granted files.
 *
 * @module
 */
import type { GrantedPath } from './grant.ts';

/** The folders to synthesize: one for each parent of a granted file outside all granted folders. */
export function foldersAround(filesystem: readonly GrantedPath[]): string[] {
  const folders = filesystem.filter(({ isFile }) => !isFile).map(({ guest }) => guest);
  const files = filesystem.filter(
    ({ isFile, guest }) => isFile && !folders.some((one) => isBelow(guest, one)),
  );
  return [...new Set(files.map(({ guest }) => parentOf(guest)))];
}

/** May the folder itself, or a file in it that was granted by itself, be changed? */
export function hasWritable(folder: string, filesystem: readonly GrantedPath[]): boolean {
  return filesystem.some(
    ({ guest, access, isFile }) =>
      access === 'read-write' && (guest === folder || (isFile === true && isBelow(guest, folder))),
  );
}

export function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/')) || '/';
}

function isBelow(path: string, folder: string): boolean {
  return path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
}
