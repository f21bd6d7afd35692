/**
 * Selects the skills that agents and clients get to see. Bundled skills are examples: they are offered only on request, or
 * if there is nothing else.
 *
 * @module
 */
import { resolve } from 'node:path';
import { SkillError } from '../errors.ts';
import type { BundleLocation } from '../load/load-bundle.ts';
import { BUNDLED_PREFIX } from '../load/locate.ts';
import { nearestNames } from '../load/nearest-names.ts';
import { isBelow, kindOf, realOrGiven } from '../load/registries.ts';
import { shellWord } from '../manifest/quote.ts';
import { nameMatches } from '../manifest/star-pattern.ts';

/** Which skills a runtime offers as tools, over MCP and over HTTP. */
export interface OfferOptions {
  /** Also offers the bundled skills. They are offered anyway if there are no others. */
  bundled?: boolean | undefined;
  /**
   * Offers only skills whose id matches one of these patterns, such as `finance/*` or `bundled:text/*`, and those in these
   * folders, which start with `/`, `./` or `../`.
   */
  skills?: readonly string[] | undefined;
}

/** The skills to offer, of all known ones. */
export function selectOffered(
  known: readonly BundleLocation[],
  options: OfferOptions = {},
): BundleLocation[] {
  const { skills: globs } = options;
  const available = availableOf(known, options);
  return available.filter((skill) => !globs || globs.some((glob) => isMatch(glob, skill)));
}

/** All known skills that match one of the patterns, whether they are offered or not. */
export function filterSkills(known: readonly BundleLocation[], globs?: readonly string[]): BundleLocation[] {
  const unmatched = globs?.find((glob) => !known.some((skill) => isMatch(glob, skill)));
  if (unmatched !== undefined) throw noMatch(unmatched, known);
  return known.filter((skill) => !globs || globs.some((glob) => isMatch(glob, skill)));
}

/** Throws `usage` for a pattern that matches no skill that can be offered. */
export function assertOffer(known: readonly BundleLocation[], options: OfferOptions): void {
  const available = availableOf(known, options);
  const unmatched = options.skills?.find((glob) => !available.some((skill) => isMatch(glob, skill)));
  if (unmatched !== undefined) throw noMatch(unmatched, known);
}

function availableOf(
  known: readonly BundleLocation[],
  { bundled, skills = [] }: OfferOptions,
): BundleLocation[] {
  const hasOwn = known.some(({ origin }) => origin !== 'bundled');
  return known.filter((skill) => {
    if (skill.origin !== 'bundled') return true;
    // One that gives way to another skill would have the same tool name.
    if (skill.ref.startsWith(BUNDLED_PREFIX)) return false;
    return bundled === true || !hasOwn || skills.some((glob) => isForBundled(glob) && isMatch(glob, skill));
  });
}

function isForBundled(glob: string): boolean {
  return glob.startsWith(BUNDLED_PREFIX);
}

/** Ids and patterns never start like this. */
function isFolder(glob: string): boolean {
  return /^(?:\/|\.{1,2}(?:\/|$))/.test(glob);
}

/** The folders among the patterns, as absolute paths. */
export function foldersIn(globs: readonly string[] | undefined, cwd: string): string[] {
  return (globs ?? []).filter(isFolder).map((folder) => resolve(cwd, folder));
}

/** The options with absolute folders, so that they mean the same everywhere. */
export function resolveOffer(options: OfferOptions | undefined, cwd: string): OfferOptions | undefined {
  if (!options?.skills) return options;
  return { ...options, skills: options.skills.map((glob) => (isFolder(glob) ? resolve(cwd, glob) : glob)) };
}

function isMatch(glob: string, { ref, origin, dir }: BundleLocation): boolean {
  if (isFolder(glob)) return isBelow(dir, realOrGiven(resolve(glob)));
  const id = ref.startsWith(BUNDLED_PREFIX) ? ref.slice(BUNDLED_PREFIX.length) : ref;
  if (!isForBundled(glob)) return nameMatches(glob, id);
  return origin === 'bundled' && nameMatches(glob.slice(BUNDLED_PREFIX.length), id);
}

function noMatch(glob: string, known: readonly BundleLocation[]): SkillError {
  const examples = known.filter((skill) => skill.origin === 'bundled' && isMatch(glob, skill));
  const isHidden = examples.length > 0 && !isForBundled(glob);
  const suggestions = nearestNames(
    glob,
    known.map(({ ref }) => ref),
  );
  if (isFolder(glob)) return noSkillsIn(glob);
  const hint = suggestions.map((id) => JSON.stringify(id)).join(' or ');
  const shown = JSON.stringify(glob);
  return new SkillError(
    'usage',
    isHidden ? `--skills ${shown} matches only bundled skills` : `--skills ${shown} matches no skill`,
    {
      fix: isHidden
        ? `To offer bundled skills, pass --skills ${shellWord(BUNDLED_PREFIX + glob)}`
        : glob !== '' && kindOf(resolve(glob)) === 'folder'
          ? `To offer the skills in this folder, pass --skills ${shellWord(`./${glob}`)}`
          : hint === ''
            ? 'Run `skillcell list` to see the known skills.'
            : `Did you mean ${hint}?`,
      detail: { glob, suggestions },
    },
  );
}

function noSkillsIn(folder: string): SkillError {
  return new SkillError('usage', `--skills ${JSON.stringify(folder)} is not a folder with skills`, {
    fix: 'Pass the folder of a skill, or a folder whose subfolders have a SKILL.md or a manifest.yaml.',
    detail: { folder },
  });
}
