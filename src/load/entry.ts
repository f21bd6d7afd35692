/**
 * Which file of a bundle is run.
 *
 * @module
 */
import { posix } from 'node:path';
import { SkillError } from '../errors.ts';
import type { Manifest } from '../manifest/manifest.ts';
import type { FileDigests } from './bundle.ts';

/** In order of preference, when the manifest names none. */
const USUAL_ENTRIES = ['skill.py', 'skill.ts', 'skill.js', 'skill.wasm', 'Dockerfile'] as const;

/** The entry as a path inside the bundle; it is one of the verified files or the load fails. */
export function findEntry(manifest: Pick<Manifest, 'entry' | 'container'>, files: FileDigests): string {
  if (manifest.entry === undefined) return inferEntry(manifest, files);
  const path = posix.normalize(manifest.entry);
  if (Object.hasOwn(files, path)) return path;
  const isBinary = path.endsWith('.wasm');
  throw new SkillError(
    'manifest_invalid',
    `The entry ${JSON.stringify(manifest.entry)} is no file of the bundle${isBinary ? ': it was not built yet' : ''}.`,
    {
      fix: isBinary
        ? 'Build it from its source with `skillcell build`, or let "entry" name a file of the bundle.'
        : 'Let "entry" name a file inside the bundle folder, relative to it, such as "skill.py".',
      detail: { field: 'entry', entry: manifest.entry },
    },
  );
}

/** The Dockerfile that a manifest names is one of the verified files, or the load fails. */
export function requireDockerfile({ container }: Pick<Manifest, 'container'>, files: FileDigests): void {
  const dockerfile = container?.dockerfile;
  if (dockerfile === undefined || Object.hasOwn(files, dockerfile)) return;
  throw new SkillError(
    'manifest_invalid',
    `The dockerfile ${JSON.stringify(dockerfile)} is no file of the bundle.`,
    {
      fix: 'Let "container.dockerfile" name a file inside the bundle folder, relative to it, such as "Dockerfile".',
      detail: { field: 'container.dockerfile', dockerfile },
    },
  );
}

/** Empty when the program to run is the one of an image: then no file of the bundle is. */
function inferEntry({ container }: Pick<Manifest, 'container'>, files: FileDigests): string {
  const found = USUAL_ENTRIES.find((name) => Object.hasOwn(files, name));
  if (found !== undefined) return found;
  if (container !== undefined) return container.dockerfile ?? '';
  throw new SkillError(
    'manifest_invalid',
    `The bundle has no entry: none of ${USUAL_ENTRIES.join(', ')} is there.`,
    {
      fix: 'Add one of these files, or name the file to run with "entry" in the manifest.',
      detail: { field: 'entry', lookedFor: [...USUAL_ENTRIES] },
    },
  );
}
