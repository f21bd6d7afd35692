/**
 * Checks a path against the policies in force: each of their lists must cover it.
 *
 * @module
 */
import type { OperatorPolicy } from './operator.ts';
import { pathCovers } from './patterns.ts';

/** A path can have several spellings, such as below `${workspace}` and on the host; one of them must be covered. */
export function allowsPath({ filesystem }: OperatorPolicy, ...spellings: string[]): boolean {
  return [filesystem.allow, ...(filesystem.within ?? [])].every((list) =>
    list.some((pattern) => spellings.some((path) => pathCovers(pattern, path))),
  );
}
