/**
 * A stand-in for an image where there is none yet: the programs of the system, for a container that is only tried.
 *
 * @module
 */
import { existsSync, lstatSync, mkdirSync, readlinkSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { dirname, join } from 'node:path';
import type { LaunchSpec, Mount } from '../contract.ts';
import { makeReadable } from '../readable.ts';

const NAMES = ['usr', 'bin', 'sbin', 'lib', 'lib32', 'lib64'];

/** What the root of a cell is made of, and what is mounted into it: the image, or else the programs of the system. */
export function rootOf(spec: LaunchSpec, folder: string): { rootfs: string; mounts: Mount[] } {
  if (spec.image) return { rootfs: spec.image.rootfs, mounts: spec.mounts };
  return { rootfs: programsRoot(folder), mounts: [...programMounts(), ...spec.mounts] };
}

/** On a merged system that is /usr alone. */
function programMounts(): Mount[] {
  return NAMES.map((name) => `/${name}`)
    .filter((path) => lstatSync(path, { throwIfNoEntry: false })?.isDirectory())
    .map((path) => ({ host: path, guest: path }));
}

/** A root with the links of the system and nothing else; made once below `folder`. */
function programsRoot(folder: string): string {
  const root = join(folder, 'programs');
  if (existsSync(root)) return root;
  const draft = `${root}.${randomBytes(6).toString('hex')}`;
  mkdirSync(draft, { recursive: true, mode: 0o755 });
  for (const name of [...NAMES, 'proc', 'dev', 'tmp', 'sys', 'etc', 'run']) place(name, join(draft, name));
  makeReadable(draft);
  try {
    renameSync(draft, root);
  } catch (error) {
    // Another process was faster with the same content.
    rmSync(draft, { recursive: true, force: true });
    if (!existsSync(root)) throw error;
  }
  return root;
}

function place(name: string, target: string): void {
  mkdirSync(dirname(target), { recursive: true });
  const stat = lstatSync(`/${name}`, { throwIfNoEntry: false });
  if (stat?.isSymbolicLink()) symlinkSync(readlinkSync(`/${name}`), target);
  else if (stat) mkdirSync(target);
}
