/**
 * Determines the third-party packages that a Python bundle needs.
 *
 * @module
 */
import type { Manifest } from '../manifest/manifest.ts';
import type { Kind } from '../vocabulary/kinds.ts';
import type { Inspection } from './inspection.ts';
import { isAvailableModule } from './modules.ts';

export interface RequirementSource {
  manifest: Pick<Manifest, 'requirements' | 'declaresCapabilities'>;
  inspection: Pick<Inspection, 'modules'>;
  kind?: Kind;
  /** Paths of the bundle's files, to tell its own modules from third-party ones. */
  paths: readonly string[];
}

/** Skillware itself depends on these, so its bundles import them without listing them. */
const SKILLWARE_DEPENDENCIES: ReadonlyMap<string, string> = new Map([
  ['yaml', 'pyyaml'],
  ['requests', 'requests'],
  ['bs4', 'beautifulsoup4'],
  ['dotenv', 'python-dotenv'],
  ['packaging', 'packaging'],
  ['jsonschema', 'jsonschema'],
  ['rich', 'rich'],
]);

/** The manifest's requirements, plus the implied dependencies of a bundle made for Skillware; sorted. */
export function requirementsOf({ manifest, kind, inspection, paths }: RequirementSource): string[] {
  const { requirements } = manifest;
  // Of an Agent Skills folder, only what a person installed counts.
  if (manifest.declaresCapabilities || kind === 'script') return [...new Set(requirements)].toSorted();
  const implied = inspection.modules
    .filter(({ value }) => !isAvailableModule(value, { requirements, paths }))
    .flatMap(({ value }) => SKILLWARE_DEPENDENCIES.get(value.split('.')[0] ?? '') ?? []);
  return [...new Set([...requirements, ...implied])].toSorted();
}
