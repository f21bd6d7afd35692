/**
 * Folders around granted files, for cells that have no mounts. WASI hands out folders alone, so a file that was granted
 * by itself is seen in a folder of its parent's name, which holds nothing that was not granted.
 *
 * @module
 */
import type { GrantedPath } from './grant.ts';

/** Names of the folders that have to be made up: for each file that lies in no granted folder. */
export function foldersAround(filesystem: readonly GrantedPath[]): string[] {
  const folders = filesystem.filter(({ isFile }) => !isFile).map(({ guest }) => guest);
  const files = filesystem.filter(
    ({ isFile, guest }) => isFile && !folders.some((one) => isBelow(guest, one)),
  );
  return [...new Set(files.map(({ guest }) => parentOf(guest)))];
}

/** Whether something in a folder may be changed: the folder itself, or a file that was granted by itself. */
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
