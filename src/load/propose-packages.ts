/**
 * Proposes the packages of an Agent Skills folder: those that its files declare, and, for imports that none of these
 * provides, packages by the names of the modules. A proposal is not a requirement: a person decides.
 *
 * @module
 */
import type { Offload } from '../offload/offload.ts';
import type { Bundle } from './bundle.ts';
import { findDeclaredPackages, type DeclaredPackages, type PackageCaps } from './declared-packages.ts';
import { packageOf } from './import-names.ts';
import { isAvailableModule } from './modules.ts';
import { FIND_PACKAGES } from './package-tasks.ts';

/** A package that a folder seems to need. */
export interface PackageNeed {
  requirement: string;
  /** A person must confirm all but `declared`: `imported` is guessed from the name of a module, `overlay` may be anyone's. */
  why: 'declared' | 'imported' | 'overlay';
  /** The file and line. */
  at: string;
}

/** What an Agent Skills folder seems to need: packages to install, and declarations that cannot be used. */
export interface PackageProposal {
  needs: PackageNeed[];
  /** npm packages that package.json files declare. */
  npm: { name: string; spec: string; at: string }[];
  /** Declarations that cannot be used, and why. */
  skipped: DeclaredPackages['skipped'];
}

/** Takes a millisecond or two on this thread. */
export const PACKAGES_HERE: PackageCaps = { bytes: 64 * 1024, files: 16 };
const DEADLINE_MS = 20_000;

type Searched = Pick<Bundle, 'stagedDir' | 'files' | 'inspection' | 'manifest' | 'overlay'>;

export async function proposePackages(bundle: Searched, offload: Offload): Promise<PackageProposal> {
  return proposal(bundle, await declaredIn(bundle, offload));
}

async function declaredIn({ stagedDir, files }: Searched, offload: Offload): Promise<DeclaredPackages> {
  const paths = Object.keys(files);
  const here = findDeclaredPackages(stagedDir, paths, PACKAGES_HERE);
  if (!here.skipped.some(({ text, at }) => text === at)) return here;
  return offload.run(FIND_PACKAGES, { stagedDir, paths }, { deadlineMs: DEADLINE_MS, owner: stagedDir });
}

/** Pure: what the files declare and import, without what the manifest already requires. */
export function proposal(
  { files, inspection, manifest, overlay }: Omit<Searched, 'stagedDir'>,
  declared: DeclaredPackages,
): PackageProposal {
  const paths = Object.keys(files);
  const known = new Set(manifest.requirements);
  const needs = new Map<string, PackageNeed>();
  for (const requirement of overlay?.offered?.requirements ?? [])
    needs.set(requirement, { requirement, why: 'overlay', at: overlay?.file ?? '' });
  for (const { requirement, at } of declared.python)
    if (!known.has(requirement) && !needs.has(requirement))
      needs.set(requirement, { requirement, why: 'declared', at });
  const requirements = [...manifest.requirements, ...needs.keys()];
  for (const { value, at } of inspection.modules) {
    const requirement = isAvailableModule(value, { requirements, paths }) ? undefined : packageOf(value);
    if (requirement !== undefined && !needs.has(requirement))
      needs.set(requirement, { requirement, why: 'imported', at });
  }
  return {
    needs: [...needs.values()],
    npm: declared.npm.map(({ requirement, spec, at }) => ({ name: requirement, spec, at })),
    skipped: declared.skipped,
  };
}
