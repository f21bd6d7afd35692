/**
 * Work folders in which a confined process leaves its output, and the copy from there to where cells find it.
 *
 * @module
 */
import { chownSync, cpSync, lstatSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { cellIdentity, DEFAULT_CELL_ID } from '../../linux/identity.ts';
import { INSTALL_GRANT } from './installer.ts';

/** Creates a folder that belongs to the user that cells run as, if the host is root. */
export function openWorkplace(folder: string): void {
  mkdirSync(dirname(folder), { recursive: true });
  mkdirSync(folder, { mode: 0o700 });
  const identity = cellIdentity(INSTALL_GRANT, DEFAULT_CELL_ID);
  if (identity) chownSync(folder, identity.uid, identity.gid);
}

/** Copies only regular files and folders. The copies belong to the host, so that cells cannot change what they use. */
export function copyPlain(from: string, to: string): void {
  cpSync(from, to, { recursive: true, filter: (path) => isPlain(path) });
}

function isPlain(path: string): boolean {
  const facts = lstatSync(path);
  return facts.isDirectory() || (facts.isFile() && facts.nlink === 1);
}
