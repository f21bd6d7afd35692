/**
 * The whole tree of a cell: finds the part that a path belongs to. `..` is resolved lexically, before any lookup,
 * because no part of the tree has links that lead elsewhere.
 *
 * @module
 */
import { fail, type Tree } from './contract.ts';
import { FixedTree } from './fixed-tree.ts';

const MAX_SEGMENT_LENGTH = 255;
const MAX_SEGMENTS = 128;

export interface Located {
  tree: Tree;
  path: readonly string[];
}

export class Mounts {
  /** Contains the folders that lead to the mounted trees. */
  readonly #top = new FixedTree();
  readonly #mounted: { at: readonly string[]; tree: Tree }[] = [];

  mount(at: string, tree: Tree): void {
    const segments = segmentsOf(at);
    this.#showInParents(segments);
    this.#mounted.push({ at: segments, tree });
    // Deepest first, so that a nested mount is found before the tree that contains it.
    this.#mounted.sort((a, b) => b.at.length - a.at.length);
  }

  locate(path: readonly string[]): Located {
    for (const { at, tree } of this.#mounted) {
      if (at.every((segment, index) => segment === path[index])) return { tree, path: path.slice(at.length) };
    }
    return { tree: this.#top, path };
  }

  /** A mount inside another fixed tree also appears in its listing. */
  #showInParents(segments: readonly string[]): void {
    const { tree, path } = this.locate(segments);
    if (tree instanceof FixedTree) tree.addFolder(path);
  }
}

/** Absolute segments of a path, resolved from a directory. */
export function resolvePath(from: readonly string[], path: string): string[] {
  if (path === '') fail('noent');
  return segmentsOf(path, path.startsWith('/') ? [] : from);
}

function segmentsOf(path: string, from: readonly string[] = []): string[] {
  const segments = [...from];
  for (const segment of path.split('/')) {
    if (segment === '' || segment === '.') continue;
    if (segment === '..') segments.pop();
    else if (segment.length > MAX_SEGMENT_LENGTH) fail('nametoolong');
    else segments.push(segment);
  }
  if (segments.length > MAX_SEGMENTS) fail('nametoolong');
  return segments;
}
