/**
 * A root file system with the programs of the host system, for probing a container without an image.
 *
 * @module
 */
import { existsSync, lstatSync, mkdirSync, readlinkSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { publishSync } from '../../../load/publish.ts';
import type { LaunchSpec, Mount } from '../../contract.ts';
import { makeReadable } from '../../linux/readable.ts';

const NAMES = ['usr', 'bin', 'sbin', 'lib', 'lib32', 'lib64'];

/** The root of a cell and its mounts: from the image, or otherwise from the programs of the system. */
export function rootOf(spec: LaunchSpec, folder: string): { rootfs: string; mounts: Mount[] } {
  if (spec.image) return { rootfs: spec.image.rootfs, mounts: spec.mounts };
  return { rootfs: programsRoot(folder), mounts: [...programMounts(), ...spec.mounts] };
}

/** With merged /usr, the others are symlinks and only /usr is mounted. */
function programMounts(): Mount[] {
  return NAMES.map((name) => `/${name}`)
    .filter((path) => lstatSync(path, { throwIfNoEntry: false })?.isDirectory())
    .map((path) => ({ host: path, guest: path }));
}

/** A root with only the symlinks of the system, created once below `folder`. */
function programsRoot(folder: string): string {
  const root = join(folder, 'programs');
  if (existsSync(root)) return root;
  publishSync(root, makeProgramsRoot, { keepsExisting: true });
  return root;
}

function makeProgramsRoot(draft: string): void {
  mkdirSync(draft, { recursive: true, mode: 0o755 });
  for (const name of [...NAMES, 'proc', 'dev', 'tmp', 'sys', 'etc', 'run']) place(name, join(draft, name));
  makeReadable(draft);
}

function place(name: string, target: string): void {
  mkdirSync(dirname(target), { recursive: true });
  const stat = lstatSync(`/${name}`, { throwIfNoEntry: false });
  if (stat?.isSymbolicLink()) symlinkSync(readlinkSync(`/${name}`), target);
  else if (stat) mkdirSync(target);
}
