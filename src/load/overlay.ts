/**
 * Overlays: what an operator permits an untrusted Agent Skills folder, written beside it and bound to its digest. In the
 * project (`.skillcell/skills/<name>.yaml`, versioned with it) or in Skillcell's own folder (`skills/<name>.yaml`). Only one
 * of the two counts, the operator's own: permissions of two files are never added up.
 *
 * @module
 */
import { join } from 'node:path';
import { z } from 'zod';
import { SkillError } from '../errors.ts';
import { addToManifest } from '../manifest/add-to-manifest.ts';
import { parseFragment, type Fragment } from '../manifest/fragment.ts';
import type { Manifest } from '../manifest/manifest.ts';
import { shellWord } from '../manifest/quote.ts';
import { areAccepted, type OfferedPackages } from './accepted-packages.ts';
import type { AppliedOverlay, Bundle, OverlayPlace } from './bundle.ts';
import { capabilitySet } from './capability-set.ts';
import { sha256 } from './digest.ts';
import { lockedPackagesSchema, type LockedPackages } from './locked-packages.ts';
import { readPlainFile } from './plain-file.ts';

/** The folder of overlays in a project. */
export const PROJECT_OVERLAYS: string = join('.skillcell', 'skills');
export const MAX_OVERLAY_BYTES: number = 64 * 1024;

export interface Overlay {
  file: string;
  place: OverlayPlace;
  /** Of its text. */
  sha256: string;
  /** The folder's own name, without a category. */
  skill: string;
  /** The files that it is for. */
  digest: string;
  fragment: Fragment;
  packages?: LockedPackages | undefined;
}

export interface OverlayPlaces {
  home: string;
  cwd: string;
}

const further = {
  skill: z.string().max(200),
  digest: z.string().regex(/^sha256:[0-9a-f]{64}$/, { error: 'Expected "sha256:" and 64 hex digits' }),
  packages: lockedPackagesSchema.optional(),
};

/** `pdf` for the skill `skills/pdf`. */
export function overlayName(skill: string): string {
  return skill.slice(skill.lastIndexOf('/') + 1);
}

export function overlayFile(skill: string, place: OverlayPlace, { home, cwd }: OverlayPlaces): string {
  const folder = place === 'home' ? join(home, 'skills') : join(cwd, PROJECT_OVERLAYS);
  return join(folder, `${overlayName(skill)}.yaml`);
}

/** Throws `manifest_invalid` if it is not an overlay. */
export function parseOverlay(text: string, { file, place }: Pick<Overlay, 'file' | 'place'>): Overlay {
  const { fragment, further: keys } = parseFragment(text, { file, further });
  const { skill, digest, packages } = keys;
  return { file, place, sha256: sha256(text), skill, digest, fragment, packages };
}

/** The overlays of a skill, the operator's own first, whichever files they are for. */
export function readOverlays(skill: string, places: OverlayPlaces): Overlay[] {
  return (['home', 'project'] as const).flatMap((place) => {
    const file = overlayFile(skill, place, places);
    const text = readOverlayText(file);
    const overlay = text === undefined ? undefined : parseOverlay(text, { file, place });
    return overlay && overlayName(overlay.skill) === overlayName(skill) ? [overlay] : [];
  });
}

/** Undefined if there is none. */
export function readOverlayText(file: string): string | undefined {
  return readPlainFile(file, MAX_OVERLAY_BYTES, (reason) => unreadable(file, reason));
}

function unreadable(file: string, reason: string): SkillError {
  return new SkillError('manifest_invalid', `Refused the overlay ${JSON.stringify(file)}: ${reason}`, {
    fix: 'Replace it with a regular file, or remove it.',
    detail: { file, reason },
  });
}

/** A service keeps skills loaded; a person who takes a permission back must not have to restart it. */
export function isCurrent({ file, sha256: loaded }: AppliedOverlay): boolean {
  const text = readOverlayText(file);
  return text !== undefined && sha256(text) === loaded;
}

type Based = Pick<Bundle, 'manifest' | 'kind' | 'digest' | 'sourceDir'>;

/** What the overlays of a skill mean for these files. */
export interface ChosenOverlay {
  overlay?: Overlay;
  /** Whether a person installed its packages here. */
  isAccepted?: boolean;
  warnings: string[];
}

/** The overlay that counts for exactly these files, and a warning for each that does not. */
export function chooseOverlay(bundle: Based, places: OverlayPlaces): ChosenOverlay {
  if (bundle.kind !== 'script') return { warnings: [] };
  const all = readOverlays(bundle.manifest.name, places);
  const [overlay, ...others] = all.filter(({ digest }) => digest === bundle.digest);
  const stale = all.filter(({ digest }) => digest !== bundle.digest);
  return {
    ...(overlay ? { overlay, isAccepted: isAccepted(overlay, places) } : {}),
    warnings: [
      ...stale.map(({ file }) => staleWarning(file, bundle)),
      ...others.map(
        ({ file }) =>
          `The overlay ${JSON.stringify(file)} does not count, because ${JSON.stringify(overlay?.file)} is for the same files.`,
      ),
    ],
  };
}

/** Packages of a project overlay count once a person installed them here. */
export function isAccepted(overlay: Overlay, { home }: OverlayPlaces): boolean {
  return overlay.place === 'home' || areAccepted(home, offeredBy(overlay));
}

export function offeredBy({ skill, fragment, packages }: Overlay): OfferedPackages {
  return { skill: overlayName(skill), requirements: fragment.requirements, packages };
}

function staleWarning(file: string, { sourceDir }: Based): string {
  return `The overlay ${JSON.stringify(file)} does not count: the files of the skill have changed since. Review it and bind it to them: skillcell approve --renew ${shellWord(sourceDir)}`;
}

export interface WithOverlay {
  manifest: Manifest;
  packages?: LockedPackages | undefined;
  applied?: AppliedOverlay;
  warnings: string[];
}

/**
 * The manifest under an overlay. Packages of a project overlay count once a person installed them here, permissions once
 * a person approved them, see `settleOverlay`.
 */
export function applyOverlay(bundle: Based, { overlay, warnings, isAccepted }: ChosenOverlay): WithOverlay {
  if (!overlay) return { manifest: bundle.manifest, warnings };
  const { file, place, fragment, sha256: ofText } = overlay;
  const packages = isAccepted ? overlay.packages : undefined;
  const accepted = isAccepted ? fragment.requirements : [];
  const base = { ...bundle.manifest, requirements: sorted([...bundle.manifest.requirements, ...accepted]) };
  const added = addToManifest(base, fragment);
  const full = capabilitySet(added).join('\n') === capabilitySet(base).join('\n') ? base : added;
  const isAsking = place === 'project' && full !== base;
  return {
    manifest: place === 'home' ? full : base,
    packages,
    applied: {
      file,
      place,
      sha256: ofText,
      base,
      full,
      ...(isAccepted ? {} : { offered: offeredBy(overlay) }),
    },
    warnings: [
      ...warnings,
      ...(isAccepted ? [] : [unacceptedWarning(file, bundle)]),
      ...(isAsking ? [unapprovedWarning(file, bundle)] : []),
    ],
  };
}

function unacceptedWarning(file: string, { sourceDir }: Based): string {
  return `The overlay ${JSON.stringify(file)} names packages that do not count until you install them: skillcell install ${shellWord(sourceDir)}`;
}

function unapprovedWarning(file: string, { sourceDir }: Based): string {
  return `The overlay ${JSON.stringify(file)} permits nothing until you approve it: skillcell approve ${shellWord(sourceDir)}`;
}

/** Is this the warning that an approval removes? */
export function isUnapprovedWarning(text: string): boolean {
  return isOverlayWarning(text) && text.includes(' permits nothing until ');
}

/** Whether this concerns the user's own file rather than an untrusted folder. */
export function isOverlayWarning(text: string): boolean {
  return text.startsWith('The overlay ');
}

export function sorted(requirements: readonly string[]): string[] {
  return [...new Set(requirements)].toSorted();
}
