/**
 * Whether the policies in force allow a path: each of their lists has to cover it.
 *
 * @module
 */
import type { OperatorPolicy } from './operator.ts';
import { pathCovers } from './patterns.ts';

/** A path may be written in several ways, such as below `${workspace}` and as it is on the host; one has to be covered. */
export function allowsPath({ filesystem }: OperatorPolicy, ...spellings: string[]): boolean {
  return [filesystem.allow, ...(filesystem.within ?? [])].every((list) =>
    list.some((pattern) => spellings.some((path) => pathCovers(pattern, path))),
  );
}
