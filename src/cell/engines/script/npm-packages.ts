/**
 * The npm packages of a folder with scripts: resolved once by npm, from the registry only and without running any of their
 * scripts, and recorded with the digest of each archive. Cells see them at /node_modules, read-only.
 *
 * @module
 */
import { existsSync, renameSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { SkillError } from '../../../errors.ts';
import type { Bundle } from '../../../load/bundle.ts';
import { findDeclaredPackages } from '../../../load/declared-packages.ts';
import type { InstallHow } from '../../../load/install-progress.ts';
import { diffPackages, pinsOfTarget } from '../../../load/locked-packages.ts';
import { isPackageFile } from '../../../load/npm-packages.ts';
import type { PinnedPackages } from '../../../load/pins.ts';
import { publish } from '../../../load/publish.ts';
import { shellWord } from '../../../manifest/quote.ts';
import { makeReadable } from '../../linux/readable.ts';
import { keepIfIntact, packagesFolder, recordedPackages, recordEnvironment } from '../python/environment.ts';
import { asideOf, folderOf, keepOnlyPinned, type PackageTarget } from '../python/pinned-environment.ts';
import { fetchNpmPackages } from './npm.ts';

export const NPM_TARGET: PackageTarget = { name: 'npm', seed: ['npm'] };

export interface NpmOptions {
  home: string;
  bundle: Bundle;
}

/** The pinned packages, if exactly these are installed. */
export function installedNpmPackages(options: NpmOptions): NpmFound | undefined {
  const pins = pinsOf(options.bundle);
  if (!pins) return undefined;
  for (const environment of environmentsFor(options, pins)) {
    const packages = recordedPackages(environment);
    if (packages?.digest === pins.digest)
      return { folder: packagesFolder(environment), environment, packages };
  }
  return undefined;
}

/** The same for a call: throws unless what is pinned is installed. Undefined if nothing is pinned. */
export function npmPackagesFor(options: NpmOptions): NpmFound | undefined {
  const pins = pinsOf(options.bundle);
  const environments = pins ? environmentsFor(options, pins) : [];
  if (!pins || environments.length === 0) return undefined;
  const found = installedNpmPackages(options);
  if (found) return found;
  throw notPinned(options.bundle, pins, environments.map(recordedPackages).find(Boolean));
}

/** Other pins for equal package.json files, which may be those of another skill, have an environment of their own. */
function environmentsFor({ home, bundle }: NpmOptions, pins: PinnedPackages): string[] {
  const key = keyOf(bundle);
  const place = { home, target: NPM_TARGET };
  return key.length === 0 ? [] : [folderOf(place, key, pins), folderOf(place, key)];
}

export interface NpmFound {
  folder: string;
  environment: string;
  packages: PinnedPackages;
}

/** Installs what the package.json files of the folder declare, or exactly what is pinned. */
export async function installNpmPackages(
  { home, bundle }: NpmOptions,
  how: InstallHow,
): Promise<PinnedPackages | undefined> {
  const pins = how.upgrades ? undefined : pinsOf(bundle);
  const needs = neededBy(bundle);
  // Whoever may not pin packages installs pinned ones only.
  if (needs.length === 0 || (!pins && !how.mayPin)) return undefined;
  const resolved = folderOf({ home, target: NPM_TARGET }, keyOf(bundle));
  const isOther = pins !== undefined && recordedPackages(resolved)?.digest !== pins.digest;
  const folder = isOther ? folderOf({ home, target: NPM_TARGET }, keyOf(bundle), pins) : resolved;
  // Moved instead of removed, because cells of running calls may have it mounted.
  if (how.upgrades && existsSync(folder)) renameSync(folder, asideOf(folder));
  if (!(await keepIfIntact(folder))) {
    const make = async (draft: string): Promise<void> => {
      await mkdir(draft, { recursive: true });
      const packages = await fetchNpmPackages({ needs, pins, folder: packagesFolder(draft) }, how);
      makeReadable(draft);
      await recordEnvironment(draft, packages);
    };
    await publish(folder, make, { keepsExisting: true });
  }
  if (pins) await keepOnlyPinned(folder, pins, bundle);
  return recordedPackages(folder);
}

function neededBy({ stagedDir, files }: Bundle): ReturnType<typeof findDeclaredPackages>['npm'] {
  return findDeclaredPackages(stagedDir, Object.keys(files).filter(isPackageFile)).npm;
}

/** What the packages are resolved from: the package.json files, by digest. */
function keyOf({ kind, files }: Bundle): string[] {
  if (kind !== 'script') return [];
  return Object.entries(files).flatMap(([path, digest]) =>
    isPackageFile(path) ? [`${path} ${digest}`] : [],
  );
}

function pinsOf({ lockedPackages }: Bundle): PinnedPackages | undefined {
  if (!lockedPackages || !Object.hasOwn(lockedPackages.targets, NPM_TARGET.name)) return undefined;
  const pins = pinsOfTarget(lockedPackages, NPM_TARGET.name, lockedPackages.requirements);
  return pins.kind === 'pinned' ? pins.pins : undefined;
}

function notPinned(
  { manifest, sourceDir }: Bundle,
  pins: PinnedPackages,
  here: PinnedPackages | undefined,
): SkillError {
  const fix = `Install them: skillcell install ${shellWord(sourceDir)}`;
  if (!here)
    return new SkillError('skill_unavailable', `The npm packages of "${manifest.name}" are not installed`, {
      fix,
      detail: { packages: pins.packages.map(({ name }) => name) },
    });
  const diff = diffPackages(pins, here);
  return new SkillError(
    'manifest_drift',
    `The installed npm packages of "${manifest.name}" differ from those that are pinned: ${diff.join('; ')}`,
    { fix, detail: { diff } },
  );
}

/** Where cells of Node find packages, whichever folder the script is in. */
export const GUEST_NPM: string = join('/', 'node_modules');
