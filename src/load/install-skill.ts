/**
 * Installs a skill: its packages, its image, and a copy of it if it is neither part of this project nor installed. The
 * lock of a project's own skill then pins the packages.
 *
 * @module
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SkillError } from '../errors.ts';
import { shellWord } from '../manifest/quote.ts';
import type { Bundle } from './bundle.ts';
import { installBundle, needsInstall } from './install.ts';
import { pinInOverlay, type AcceptPackages } from './install-script.ts';
import type { InstallHow, InstallWatch } from './install-progress.ts';
import { formatLock, parseLock } from './lock.ts';
import { diffLocked, mergeLocked, type LockedPackages } from './locked-packages.ts';
import type { OverlayPlaces } from './overlay.ts';
import type { PinnedPackages } from './pins.ts';
import { publishSync } from './publish.ts';
import { LOCK_FILE } from './read-bundle.ts';
import { requirementsOf } from './requirements.ts';

/** Options of `Runtime.install`. */
export interface InstallOptions extends InstallWatch {
  /** Copies the skill into the store of installed skills even if it is part of this project. */
  global?: boolean | undefined;
  /** Replaces an installed skill of the same name; implies `global`. */
  replace?: boolean | undefined;
  /** Installs exactly the packages that `skill.lock` pins, or fails. */
  frozen?: boolean | undefined;
  /** Resolves the requirements again and updates the pins in `skill.lock`. */
  upgrade?: boolean | undefined;
  /** Asked before packages are installed that only the imports of an Agent Skills folder suggest; absent: they are not. */
  acceptPackages?: AcceptPackages | undefined;
}

/** What an installation did. */
export interface Installation {
  /** The folder that calls by id use. */
  folder: string;
  /** True if the skill was copied into the store of installed skills. */
  copied: boolean;
  /** Installed packages by target, such as `python-3.13-linux-x64`. */
  packages: Record<string, PinnedPackages>;
  /** Whether `skill.lock` pins these packages. */
  pinned: boolean;
  /** What changed among the pins of `skill.lock`, one line for each package. */
  changes: string[];
  /** The overlay that pins the packages of an Agent Skills folder instead of `skill.lock`. */
  overlay?: string;
}

/** The part of a machine that fetches what skills need. */
export interface InstallDeps {
  readonly home: string;
  installRequirements(bundle: Bundle, how: InstallHow): Promise<Record<string, PinnedPackages>>;
  /** Returns the problem if the image is missing and another mode does not need it. */
  installImage(bundle: Bundle): Promise<string | undefined>;
}

/** Returns the bundle with its new pins, and what was done. */
export async function installSkill(
  bundle: Bundle,
  deps: InstallDeps,
  options: InstallOptions & { overlays?: OverlayPlaces } = {},
): Promise<{ bundle: Bundle; installation: Installation }> {
  const { home } = deps;
  const inOverlay = bundle.kind === 'script' && !mayWritePins(bundle) ? options.overlays : undefined;
  const copied = bundle.origin === 'external' || options.global === true || options.replace === true;
  if (copied) needsInstall(home, bundle, options);
  if (options.frozen) assertFrozen(bundle, options);
  const mayPin = (mayWritePins(bundle) || inOverlay !== undefined) && !options.frozen;
  if (options.upgrade && bundle.lockedPackages && !mayPin) throw notOurs(bundle);
  const { onInstall, signal, upgrade: upgrades } = options;
  const packages = await deps.installRequirements(bundle, { onInstall, signal, upgrades, mayPin });
  const problem = await deps.installImage(bundle);
  if (problem !== undefined) bundle.warnings.push(problem);
  const { lockedPackages, changes, overlay } = !mayPin
    ? { ...bundle, changes: [], overlay: undefined }
    : inOverlay
      ? { overlay: undefined, ...pinInOverlay(bundle, packages, inOverlay) }
      : { ...writePins(bundle, packages), overlay: undefined };
  const folder = copied ? installBundle(home, bundle, options) : bundle.sourceDir;
  return {
    bundle: lockedPackages ? { ...bundle, lockedPackages } : bundle,
    installation: {
      ...{ folder, copied, packages, pinned: lockedPackages !== undefined, changes },
      ...(overlay === undefined ? {} : { overlay }),
    },
  };
}

/** A signed lock vouches for its bytes, and the lock of someone else's skill is theirs. */
function mayWritePins({ origin, lock, vouched }: Bundle): boolean {
  return origin === 'project' && lock === 'locked' && !vouched;
}

interface WrittenPins {
  lockedPackages?: LockedPackages | undefined;
  changes: string[];
}

/** Changes nothing but the pins: the rest of the lock was compared with the bundle when it was loaded. */
function writePins(bundle: Bundle, packages: Record<string, PinnedPackages>): WrittenPins {
  const before = bundle.lockedPackages;
  const lockedPackages = mergeLocked(requirementsOfFiles(bundle), packages, before);
  const changes = diffLocked(before, lockedPackages);
  if (!lockedPackages || changes.length === 0) return { lockedPackages: before, changes: [] };
  const file = join(bundle.sourceDir, LOCK_FILE);
  const { inspection, npm, packages: _, ...rest } = parseLock(readFileSync(file, 'utf8'));
  const pinned = { packages: lockedPackages, ...(npm === undefined ? {} : { npm }) };
  const text = formatLock({ ...rest, ...pinned, inspection });
  publishSync(file, (draft) => writeFileSync(draft, text));
  return { lockedPackages, changes };
}

function requirementsOfFiles(bundle: Bundle): string[] {
  return requirementsOf({ ...bundle, paths: Object.keys(bundle.files) });
}

function assertFrozen(bundle: Bundle, { upgrade }: InstallOptions): void {
  if (upgrade)
    throw new SkillError('usage', '--frozen and --upgrade contradict each other', {
      fix: 'Pass only one of them.',
    });
  if (bundle.lockedPackages || requirementsOfFiles(bundle).length === 0) return;
  const { name } = bundle.manifest;
  const dir = shellWord(bundle.sourceDir);
  const missing = bundle.lock === 'locked' ? 'does not pin its packages' : 'is missing';
  throw new SkillError(
    'manifest_drift',
    `The skill.lock of "${name}" ${missing}, so --frozen cannot install them`,
    {
      fix:
        bundle.lock === 'locked'
          ? `Pin them once without --frozen: skillcell install ${dir}`
          : `Pin them once: skillcell install ${dir} && skillcell lock ${dir}`,
    },
  );
}

function notOurs({ manifest, sourceDir }: Bundle): SkillError {
  return new SkillError(
    'usage',
    `The packages of "${manifest.name}" are pinned by the publisher's skill.lock`,
    {
      fix: `Leave out --upgrade. If it is your own skill, update it in its folder: cd ${shellWord(sourceDir)} && skillcell install --upgrade .`,
    },
  );
}
