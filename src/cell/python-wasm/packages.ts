/**
 * Installed packages as cells of this engine see them: with their bytecode, which is made once per content. A cell could
 * compile them itself, but it would do so in every process, and for what a call imports in every call.
 *
 * @module
 */
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Wall } from '../contract.ts';
import { makeReadable } from '../readable.ts';
import type { BaseImages } from './base-images.ts';
import { runInstaller } from '../node/installer.ts';
import { copyPlain, openWorkplace } from '../node/workplace.ts';

export interface Packages {
  folder: string;
  /** sha256 of every file in it. */
  digest: string;
  /** Folder with `__pycache__` folders that lie as the packages do. */
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
  if (!existsSync(bytecode)) await compile(options, bytecode);
  return { folder, digest, bytecode };
}

/** Sound without any bytecode: then cells compile what they import. So a failure is remembered as an empty folder. */
async function compile({ home, wall, images, folder }: PackagesOptions, bytecode: string): Promise<void> {
  const workplace = `${bytecode}.${randomBytes(6).toString('hex')}`;
  const reads = [
    { host: images.code, guest: '/engine' },
    { host: images.newest.base, guest: '/image' },
    { host: folder, guest: '/deps' },
  ];
  openWorkplace(workplace);
  try {
    await runInstaller({ home, wall, entry: 'python/install/compile-packages.js', reads }, workplace);
  } catch {
    rmSync(workplace, { recursive: true });
    mkdirSync(workplace);
  }
  publish(workplace, bytecode);
}

function publish(workplace: string, bytecode: string): void {
  const draft = `${workplace}.copy`;
  try {
    copyPlain(workplace, draft);
    makeReadable(draft);
    renameSync(draft, bytecode);
  } catch (error) {
    // Another process may have been faster.
    if (!existsSync(bytecode)) throw error;
  } finally {
    for (const folder of [workplace, draft]) rmSync(folder, { recursive: true, force: true });
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
