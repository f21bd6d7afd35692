/**
 * Finds the installed packages of a bundle for one target. If the lock pins packages, only an environment with exactly
 * these wheels is used; environments with other pins of the same requirements exist next to it.
 *
 * @module
 */
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { SkillError } from '../../../errors.ts';
import type { Bundle } from '../../../load/bundle.ts';
import type { InstallHow } from '../../../load/install-progress.ts';
import { diffPackages, pinsOfTarget } from '../../../load/locked-packages.ts';
import type { PinnedPackages } from '../../../load/pins.ts';
import { removeTree } from '../../../load/remove-tree.ts';
import { requirementsOf } from '../../../load/requirements.ts';
import { shellWord } from '../../../manifest/quote.ts';
import { recordedPackages } from './environment.ts';

/** Prefix of environments that an upgrade replaced. */
const OLD_ENVIRONMENT = '.old-';

/** One engine on one platform. */
export interface PackageTarget {
  /** Its name in a lock. */
  name: string;
  /** What the wheels depend on, for the name of the folder. */
  seed: readonly string[];
}

export interface TargetOptions {
  home: string;
  bundle: Bundle;
  target: PackageTarget;
}

export type FoundEnvironment =
  /** The bundle has no requirements. */
  | { kind: 'none' }
  | { kind: 'found'; environment: string; packages: PinnedPackages }
  | { kind: 'absent' }
  /** The lock pins packages, but not for this target. */
  | { kind: 'unpinned'; reason: string }
  /** Only other wheels than the pinned ones are installed. */
  | { kind: 'different'; diff: string[] };

export function findEnvironment({ home, bundle, target }: TargetOptions): FoundEnvironment {
  const requirements = requirementsOfBundle(bundle);
  if (requirements.length === 0) return { kind: 'none' };
  const resolved = folderOf({ home, target }, requirements);
  const here = recordedPackages(resolved);
  const locked = pinsOfTarget(bundle.lockedPackages, target.name, requirements);
  if (locked.kind === 'missing') return { kind: 'unpinned', reason: locked.reason };
  if (locked.kind === 'unpinned')
    return here ? { kind: 'found', environment: resolved, packages: here } : { kind: 'absent' };
  const { pins } = locked;
  const own = folderOf({ home, target }, requirements, pins);
  for (const environment of [own, resolved]) {
    const packages = recordedPackages(environment);
    if (packages?.digest === pins.digest) return { kind: 'found', environment, packages };
  }
  return here ? { kind: 'different', diff: diffPackages(pins, here) } : { kind: 'absent' };
}

/** Path of the environment for these requirements, whether it exists or not. */
export function folderOf(
  { home, target }: Pick<TargetOptions, 'home' | 'target'>,
  requirements: readonly string[],
  pins?: PinnedPackages,
): string {
  const key = [...target.seed, requirements, ...(pins ? [pins.digest] : [])];
  const name = createHash('sha256').update(JSON.stringify(key)).digest('hex').slice(0, 32);
  return join(environmentsFolder(home), name);
}

function environmentsFolder(home: string): string {
  return join(home, 'environments');
}

/** Throws if only other wheels than the pinned ones are installed, or the lock does not pin this target. */
export function assertPinned(bundle: Bundle, found: FoundEnvironment): void {
  if (found.kind !== 'different' && found.kind !== 'unpinned') return;
  const { name } = bundle.manifest;
  const [reason, detail] =
    found.kind === 'different'
      ? [`The installed packages of "${name}" differ from its skill.lock: ${found.diff.join('; ')}`, found]
      : [`The skill.lock of "${name}" does not cover its packages here: ${found.reason}`, found];
  // A skill of the project may be pinned by its author, who is here; any other keeps the pins of its publisher.
  const isForeign = found.kind === 'unpinned' && bundle.origin !== 'project';
  throw new SkillError('manifest_drift', reason, {
    fix: isForeign
      ? `Ask its publisher to pin them. If it is your own skill, pin them there: cd ${shellWord(bundle.sourceDir)} && skillcell install .`
      : `Install the packages: ${installCommand(bundle)}`,
    detail: { ...detail, requirements: requirementsOfBundle(bundle) },
  });
}

/** Throws `manifest_drift` and removes the environment if it has other wheels than the pinned ones. */
export async function keepOnlyPinned(
  environment: string,
  pins: PinnedPackages,
  bundle: Bundle,
): Promise<void> {
  const here = recordedPackages(environment);
  if (!here || here.digest === pins.digest) return;
  await removeTree(environment);
  throw new SkillError(
    'manifest_drift',
    `The package index has other files for "${bundle.manifest.name}" than its skill.lock pins: ${diffPackages(pins, here).join('; ')}`,
    {
      fix: 'Find out why they differ. To resolve the requirements again and update the pins of your own skill, add --upgrade.',
      detail: { requirements: requirementsOfBundle(bundle) },
    },
  );
}

export interface InstallPlan {
  folder: string;
  /** The wheels that must result. */
  pins?: PinnedPackages | undefined;
}

/** Where to install the packages, and which; undefined if there are none. */
export function planInstall(
  options: TargetOptions,
  { upgrades, mayPin }: InstallHow,
): InstallPlan | undefined {
  const requirements = requirementsOfBundle(options.bundle);
  if (requirements.length === 0) return undefined;
  const { bundle, target } = options;
  const locked = pinsOfTarget(bundle.lockedPackages, target.name, requirements);
  if (locked.kind === 'pinned' && !upgrades) {
    const { pins } = locked;
    const resolved = folderOf(options, requirements);
    const isHere = recordedPackages(resolved)?.digest === pins.digest;
    return { folder: isHere ? resolved : folderOf(options, requirements, pins), pins };
  }
  if (locked.kind === 'missing' && !mayPin) assertPinned(bundle, { kind: 'unpinned', reason: locked.reason });
  const folder = folderOf(options, requirements);
  // Moved instead of removed, because cells of running calls may have it mounted; `prune` removes it later.
  if (upgrades && existsSync(folder)) renameSync(folder, asideOf(folder));
  return { folder };
}

export function asideOf(folder: string): string {
  return join(dirname(folder), `${OLD_ENVIRONMENT}${randomBytes(8).toString('hex')}`);
}

export function requirementsOfBundle(bundle: Bundle): string[] {
  return requirementsOf({ ...bundle, paths: Object.keys(bundle.files) });
}

export function installCommand({ sourceDir }: Bundle): string {
  return `skillcell install ${shellWord(sourceDir)}`;
}
