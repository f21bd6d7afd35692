/**
 * What `find` does with the files it finds.
 *
 * @module
 */
import { basename } from 'node:path';
import { kindOf } from './programs.ts';
import type { Surroundings } from './surroundings.ts';

/** Whether `find` runs programs other than readers, and whether it searches where skills are. */
export function runsOfFind(
  args: readonly (string | undefined)[],
  around: Surroundings,
): 'nothing' | 'near skills' | 'elsewhere' {
  const commands = args.flatMap((word, at) =>
    word !== undefined && /^-(?:exec|ok)/.test(word) ? [args[at + 1]] : [],
  );
  const areReaders = commands.every((name) => name !== undefined && kindOf(basename(name)) === 'reader');
  if (areReaders && !args.includes(undefined)) return 'nothing';
  return searchesSkills(args, around) ? 'near skills' : 'elsewhere';
}

/** Whether a search with these arguments starts above skills, or in one. */
export function searchesSkills(args: readonly (string | undefined)[], around: Surroundings): boolean {
  const firstOption = args.findIndex((word) => word === undefined || word.startsWith('-'));
  const roots = args
    .slice(0, firstOption === -1 ? args.length : firstOption)
    .filter((word) => word !== undefined);
  const places = (roots.length === 0 ? ['.'] : roots).flatMap((root) => around.placesOf(root));
  const { folders } = around;
  return places.some((place) => folders.relationOf(place) !== 'none' || folders.containsPlace(place));
}
