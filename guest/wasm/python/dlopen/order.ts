/**
 * Sorts libraries so that each comes after those that it needs.
 *
 * @module
 */
import { LinkError, type Library } from './library.ts';

export function inOrder(libraries: readonly Library[]): Library[] {
  const ordered: Library[] = [];
  const left = new Set(libraries);
  while (left.size > 0) {
    const next = [...left].find(({ dylink }) => dylink.needed.every((name) => !isAmong(left, name)));
    if (!next)
      throw new LinkError([...left][0]?.path ?? '', 'is part of a cycle of libraries that need each other');
    left.delete(next);
    ordered.push(next);
  }
  return ordered;
}

function isAmong(libraries: ReadonlySet<Library>, name: string): boolean {
  return [...libraries].some(({ path }) => path.endsWith(`/${name}`));
}
