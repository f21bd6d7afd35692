/**
 * The root of a container: an empty folder with mount points for everything that the cell sees. The files of the image
 * are mounted into it, so nothing is ever written to the stored image.
 *
 * @module
 */
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { Mount } from '../../../contract.ts';
import { makeReadable } from '../../../linux/readable.ts';

/** Folders that the cell provides, even if the image has them too. */
const OWN = new Set([
  'proc',
  'dev',
  'sys',
  'tmp',
  'run',
  'skill',
  'harness',
  'deps',
  'bytecode',
  'workspace',
]);
const SYSTEM_FOLDERS = ['proc', 'dev', 'tmp'];

export interface RootOptions {
  root: string;
  /** Unpacked files of the image. */
  imageRoot: string;
  binds: readonly Mount[];
}

/** Creates the root and returns the mounts of the image. */
export function makeRoot({ root, imageRoot, binds }: RootOptions): Mount[] {
  mkdirSync(root, { mode: 0o755 });
  for (const name of SYSTEM_FOLDERS) mkdirSync(join(root, name), { mode: 0o755 });
  const granted = new Set(binds.map(({ guest }) => guest.split('/')[1]));
  const names = readdirSync(imageRoot).filter((name) => !OWN.has(name) && !granted.has(name));
  const mounted = names.filter((name) => placeFor(join(imageRoot, name), join(root, name)));
  for (const { host, guest } of binds) mountPoint(join(root, guest), statSync(host).isDirectory());
  makeReadable(root);
  // runc copies the mode of the mount point to the mount.
  chmodSync(join(root, 'tmp'), 0o1777);
  return mounted.map((name) => ({ host: join(imageRoot, name), guest: `/${name}` }));
}

/** False for a symlink, which is copied instead of mounted and resolved inside. */
function placeFor(source: string, target: string): boolean {
  const stat = lstatSync(source);
  if (stat.isSymbolicLink()) symlinkSync(readlinkSync(source), target);
  else mountPoint(target, stat.isDirectory());
  return !stat.isSymbolicLink();
}

function mountPoint(path: string, isFolder: boolean): void {
  mkdirSync(isFolder ? path : dirname(path), { recursive: true, mode: 0o755 });
  if (!isFolder) writeFileSync(path, '', { mode: 0o644, flag: 'a' });
}
