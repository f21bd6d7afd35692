/**
 * Installed packages with their bytecode, which is compiled once per content. Cells could compile it themselves, but
 * would do so again in every process, and for modules that a call imports, in every call.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { publish } from '../../../load/publish.ts';
import type { Wall } from '../../contract.ts';
import { makeReadable } from '../../linux/readable.ts';
import type { BaseImages } from './base-images.ts';
import { runInstaller } from '../node-process/installer.ts';
import { copyPlain, openWorkplace } from '../node-process/workplace.ts';

export interface Packages {
  folder: string;
  /** sha256 over all files in the folder. */
  digest: string;
  /** Folder with `__pycache__` folders in the same layout as the packages. */
  bytecode: string;
}

export interface PackagesOptions {
  home: string;
  wall: Wall;
  images: BaseImages;
  folder: string;
}

export async function openPackages(options: PackagesOptions): Promise<Packages> {
  const { home, images, folder } = options;
  const digest = digestOfFolder(folder);
  const bytecode = join(home, 'bytecode', `${digest.slice(0, 32)}-${images.version}`);
  if (!existsSync(bytecode))
    await publish(bytecode, (draft) => compile(options, draft), { keepsExisting: true });
  return { folder, digest, bytecode };
}

/** Bytecode is optional, because cells can compile what they import. A failure is therefore cached as an empty folder. */
async function compile({ home, wall, images, folder }: PackagesOptions, draft: string): Promise<void> {
  const workplace = `${draft}.workplace`;
  const reads = [
    { host: images.code, guest: '/engine' },
    { host: images.newest.base, guest: '/image' },
    { host: folder, guest: '/deps' },
  ];
  try {
    openWorkplace(workplace);
    const entry = 'python/install/compile-packages.js';
    const isCompiled = await runInstaller({ home, wall, entry, reads }, workplace).then(
      () => true,
      () => false,
    );
    if (isCompiled) copyPlain(workplace, draft);
    else mkdirSync(draft);
    makeReadable(draft);
  } finally {
    rmSync(workplace, { recursive: true, force: true });
  }
}

function digestOfFolder(folder: string): string {
  const hash = createHash('sha256');
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  for (const path of entries.toSorted()) {
    const bytes = readFileSync(path);
    hash.update(`${path.slice(folder.length)}\0${bytes.length}\0`).update(bytes);
  }
  return hash.digest('hex');
}
