/**
 * Which third-party packages a Python bundle needs.
 *
 * @module
 */
import type { Manifest } from '../manifest/manifest.ts';
import type { Inspection } from './inspection.ts';
import { isAvailableModule } from './modules.ts';

export interface RequirementSource {
  manifest: Pick<Manifest, 'requirements' | 'declaresCapabilities'>;
  inspection: Pick<Inspection, 'modules'>;
  /** Paths of the files of the bundle, to tell its own modules from foreign ones. */
  paths: readonly string[];
}

/** Skillware depends on these itself, so its bundles import them without listing them. */
const BROUGHT_BY_SKILLWARE: ReadonlyMap<string, string> = new Map([
  ['yaml', 'pyyaml'],
  ['requests', 'requests'],
  ['bs4', 'beautifulsoup4'],
  ['dotenv', 'python-dotenv'],
  ['packaging', 'packaging'],
  ['jsonschema', 'jsonschema'],
  ['rich', 'rich'],
]);

/** What the manifest lists, and for a bundle made for Skillware also what it may take for granted; sorted. */
export function requirementsOf({ manifest, inspection, paths }: RequirementSource): string[] {
  const { requirements } = manifest;
  if (manifest.declaresCapabilities) return [...new Set(requirements)].toSorted();
  const implied = inspection.modules
    .filter(({ value }) => !isAvailableModule(value, { requirements, paths }))
    .flatMap(({ value }) => BROUGHT_BY_SKILLWARE.get(value.split('.')[0] ?? '') ?? []);
  return [...new Set([...requirements, ...implied])].toSorted();
}
