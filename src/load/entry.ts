/**
 * Decides which file of a bundle is run.
 *
 * @module
 */
import { posix } from 'node:path';
import { SkillError } from '../errors.ts';
import type { Manifest } from '../manifest/manifest.ts';
import type { Kind } from '../vocabulary/kinds.ts';
import type { FileDigests } from './bundle.ts';
import { IGNORE_FILE } from './ignore.ts';
import type { ScriptFile } from './scripts.ts';

/** In order of preference, if the manifest names no entry. */
const USUAL_ENTRIES = ['skill.py', 'skill.ts', 'skill.js', 'skill.wasm', 'Dockerfile'] as const;

/** An Agent Skills folder has a SKILL.md and nothing that `execute` could be in. */
export function kindOf(
  manifest: Pick<Manifest, 'entry' | 'container'>,
  files: FileDigests,
  scripts: readonly ScriptFile[],
): Kind {
  // Without a manifest.yaml, the image is where the scripts find their programs.
  const isOfImage = manifest.container !== undefined && Object.hasOwn(files, 'manifest.yaml');
  const hasEntry = manifest.entry !== undefined || isOfImage;
  const isFunction = hasEntry || USUAL_ENTRIES.some((name) => Object.hasOwn(files, name));
  if (isFunction || !Object.hasOwn(files, 'SKILL.md')) return 'function';
  return scripts.length > 0 ? 'script' : 'instructions';
}

/** Does it have Python code that a call runs? */
export function runsPython({
  kind,
  entry,
  files,
}: {
  kind: Kind;
  entry: string;
  files: FileDigests;
}): boolean {
  if (kind !== 'script') return entry.endsWith('.py');
  return Object.keys(files).some((path) => path.endsWith('.py'));
}

/** The entry as a path inside the bundle. Throws unless it is one of the verified files. */
export function findEntry(manifest: Pick<Manifest, 'entry' | 'container'>, files: FileDigests): string {
  if (manifest.entry === undefined) return inferEntry(manifest, files);
  const path = posix.normalize(manifest.entry);
  if (Object.hasOwn(files, path)) return path;
  const isBinary = path.endsWith('.wasm');
  throw new SkillError(
    'manifest_invalid',
    `The entry ${JSON.stringify(manifest.entry)} is missing from the bundle${isBinary ? ': it has not been built yet' : ''}.`,
    {
      fix: isBinary
        ? 'Run `skillcell build` first, or set "entry" to a file of the bundle.'
        : 'Set "entry" to the path of a file in the bundle, relative to its folder, such as "skill.py".',
      detail: { field: 'entry', entry: manifest.entry },
    },
  );
}

/** Throws if the file to run, or the Dockerfile, is ignored: another file would run instead, or none. */
export function refuseIgnoredEntry(
  { entry, container }: Pick<Manifest, 'entry' | 'container'>,
  { files, ignored }: { files: FileDigests; ignored: ReadonlySet<string> },
): void {
  const usual = USUAL_ENTRIES.find((name) => Object.hasOwn(files, name) || ignored.has(name));
  const named = [entry === undefined ? usual : posix.normalize(entry), container?.dockerfile];
  const lost = named.find((path) => path !== undefined && parentsOf(path).some((one) => ignored.has(one)));
  if (lost === undefined) return;
  throw new SkillError(
    'manifest_invalid',
    `The bundle needs the file ${JSON.stringify(lost)}, which is ignored.`,
    {
      fix: `Remove the pattern for it from ${IGNORE_FILE}. If it is ignored by default, rename it or its folder.`,
      detail: { field: 'entry', entry: lost },
    },
  );
}

/** The path and every folder above it. */
function parentsOf(path: string): string[] {
  return path.split('/').map((_, at, all) => all.slice(0, at + 1).join('/'));
}

/** Throws unless the Dockerfile that the manifest names is one of the verified files. */
export function requireDockerfile({ container }: Pick<Manifest, 'container'>, files: FileDigests): void {
  const dockerfile = container?.dockerfile;
  if (dockerfile === undefined || Object.hasOwn(files, dockerfile)) return;
  throw new SkillError(
    'manifest_invalid',
    `The dockerfile ${JSON.stringify(dockerfile)} is missing from the bundle.`,
    {
      fix: 'Set "container.dockerfile" to the path of a file in the bundle, relative to its folder, such as "Dockerfile".',
      detail: { field: 'container.dockerfile', dockerfile },
    },
  );
}

/** Empty if the image contains the program to run. */
function inferEntry({ container }: Pick<Manifest, 'container'>, files: FileDigests): string {
  const found = USUAL_ENTRIES.find((name) => Object.hasOwn(files, name));
  // A build bundled skill.ts with its npm packages into skill.js.
  if (found === 'skill.ts' && ['package.json', 'skill.js'].every((name) => Object.hasOwn(files, name)))
    return 'skill.js';
  if (found !== undefined) return found;
  if (container !== undefined) return container.dockerfile ?? '';
  throw new SkillError(
    'manifest_invalid',
    `The bundle has no entry: it contains none of ${USUAL_ENTRIES.join(', ')}.`,
    {
      fix: 'Add one of these files, or name the file to run with "entry" in the manifest.',
      detail: { field: 'entry', lookedFor: [...USUAL_ENTRIES] },
    },
  );
}
