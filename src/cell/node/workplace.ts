/**
 * Folders in which a confined process leaves what it made, and the way from there to where cells find it.
 *
 * @module
 */
import { chownSync, cpSync, lstatSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { cellIdentity, DEFAULT_CELL_ID } from '../jail/identity.ts';
import { INSTALL_GRANT } from './installer.ts';

/** Belongs to the user that cells run as, when the host is root. */
export function openWorkplace(folder: string): void {
  mkdirSync(dirname(folder), { recursive: true });
  mkdirSync(folder, { mode: 0o700 });
  const identity = cellIdentity(INSTALL_GRANT, DEFAULT_CELL_ID);
  if (identity) chownSync(folder, identity.uid, identity.gid);
}

/** Copies plain files, so that nothing that cells use belongs to the user that cells run as. */
export function copyPlain(from: string, to: string): void {
  cpSync(from, to, { recursive: true, filter: (path) => isPlain(path) });
}

function isPlain(path: string): boolean {
  const facts = lstatSync(path);
  return facts.isDirectory() || (facts.isFile() && facts.nlink === 1);
}
