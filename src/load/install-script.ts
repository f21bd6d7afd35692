/**
 * Installs the packages of an Agent Skills folder. What its files declare is installed; what its imports suggest only if a
 * person says so. The folder is a stranger's, so the pins go into an overlay, or into the lock of the project's own skill.
 *
 * @module
 */
import { SkillError } from '../errors.ts';
import { shellWord } from '../manifest/quote.ts';
import type { Bundle } from './bundle.ts';
import type { Installation, InstallOptions } from './install-skill.ts';
import { diffLocked, mergeLocked } from './locked-packages.ts';
import { sorted, type OverlayPlaces } from './overlay.ts';
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
  if (frozen || needs.length === 0) return bundle;
  const guessed = needs.filter(({ why }) => why === 'imported');
  if (guessed.length > 0 && !(await acceptPackages?.(needs))) throw unasked(bundle, guessed);
  const requirements = sorted([
    ...bundle.manifest.requirements,
    ...needs.map(({ requirement }) => requirement),
  ]);
  return { ...bundle, manifest: { ...bundle.manifest, requirements } };
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

function unasked({ manifest, sourceDir }: Bundle, guessed: readonly PackageNeed[]): SkillError {
  const names = guessed.map(({ requirement, at }) => `${requirement} (imported in ${at})`).join(', ');
  return new SkillError(
    'approval_required',
    `The skill "${manifest.name}" declares no packages for its imports. They suggest: ${names}`,
    {
      fix: `If these are the right packages, install them: skillcell install ${shellWord(sourceDir)} --yes`,
      detail: { packages: guessed.map(({ requirement, at }) => ({ requirement, at })) },
    },
  );
}
