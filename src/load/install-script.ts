/**
 * Installs the packages of an Agent Skills folder. What its files declare is installed; what its imports suggest only if a
 * person says so. The folder is untrusted, so the pins go into an overlay, or into the lock of the project's own skill.
 *
 * @module
 */
import { SkillError } from '../errors.ts';
import { shellWord } from '../manifest/quote.ts';
import type { Bundle } from './bundle.ts';
import type { Installation, InstallOptions } from './install-skill.ts';
import { diffLocked, mergeLocked } from './locked-packages.ts';
import { recordAccepted } from './accepted-packages.ts';
import { chooseOverlay, offeredBy, sorted, type OverlayPlaces } from './overlay.ts';
import type { PinnedPackages } from './pins.ts';
import type { PackageNeed, PackageProposal } from './propose-packages.ts';
import { draftOverlay, saveOverlay, withPackages } from './write-overlay.ts';

/** Asks whether to install packages that are only guessed from imports. */
export type AcceptPackages = (needs: readonly PackageNeed[]) => boolean | Promise<boolean>;

/** The bundle with the requirements that shall be installed. Throws `approval_required` if a person has to say so. */
export async function withAccepted(
  bundle: Bundle,
  { needs }: PackageProposal,
  { frozen, acceptPackages }: Pick<InstallOptions, 'frozen' | 'acceptPackages'>,
): Promise<Bundle> {
  const offered = bundle.overlay?.offered;
  // A frozen installation adds nothing to what is pinned, but the pins may be those of an overlay.
  const wanted = needs.filter(({ why }) => !frozen || why === 'overlay');
  if (wanted.length === 0 && !offered) return bundle;
  const open = wanted.filter(({ why }) => why !== 'declared');
  if ((open.length > 0 || offered) && !(await acceptPackages?.(wanted))) throw unasked(bundle, open);
  const requirements = sorted([
    ...bundle.manifest.requirements,
    ...wanted.map(({ requirement }) => requirement),
  ]);
  const manifest = { ...bundle.manifest, requirements };
  return { ...bundle, manifest, ...(offered?.packages ? { lockedPackages: offered.packages } : {}) };
}

/** Pins the packages in the overlay. Returns what changed. */
export function pinInOverlay(
  bundle: Bundle,
  packages: Readonly<Record<string, PinnedPackages>>,
  places: OverlayPlaces,
): Pick<Installation, 'changes'> & { overlay?: string } & Pick<Bundle, 'lockedPackages'> {
  const { requirements } = bundle.manifest;
  const before = bundle.lockedPackages;
  const after = mergeLocked(requirements, packages, before);
  if (!after) return { changes: [] };
  const draft = draftOverlay(bundle, places);
  const text = withPackages(draft.text, { requirements, packages: after });
  if (text !== draft.before) saveOverlay({ ...draft, text });
  return { changes: diffLocked(before, after), overlay: draft.file, lockedPackages: after };
}

/** Remembers that a person installed the packages that the overlay of a project names, as they are in this bundle. */
export function acceptOverlay(bundle: Bundle, places: OverlayPlaces): void {
  const { overlay } = chooseOverlay(bundle, places);
  if (overlay?.place !== 'project') return;
  const offered = offeredBy(overlay);
  const isSame = JSON.stringify(offered.packages) === JSON.stringify(bundle.lockedPackages);
  const isKnown = offered.requirements.every((one) => bundle.manifest.requirements.includes(one));
  // Someone else may have changed the file during the installation.
  if (isSame && isKnown) recordAccepted(places.home, offered);
}

function unasked({ manifest, sourceDir, overlay }: Bundle, open: readonly PackageNeed[]): SkillError {
  const names = open.map(({ requirement, why, at }) => `${requirement} (${WHY[why]} ${at})`).join(', ');
  const why = overlay?.offered
    ? `names packages in an overlay that nobody installed here: ${names}`
    : `declares no packages for its imports. They suggest: ${names}`;
  return new SkillError('approval_required', `The skill "${manifest.name}" ${why}`, {
    fix: `If these are the right packages, install them: skillcell install ${shellWord(sourceDir)} --yes`,
    detail: { packages: open.map(({ requirement, at }) => ({ requirement, at })) },
  });
}

const WHY: Record<PackageNeed['why'], string> = {
  declared: 'declared in',
  imported: 'imported in',
  overlay: 'named by',
};
