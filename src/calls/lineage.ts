/**
 * The place of a call in a tree of calls. Only a call that another call made has one.
 *
 * @module
 */

export interface Lineage {
  /** Id of the call that made this one. */
  readonly parent: string;
  /** Id of the call that began the tree. */
  readonly root: string;
  /** Number of calls above this one. */
  readonly depth: number;
}

/** The lineage of a call made by this one. */
export function lineageBelow({ id, lineage }: { id: string; lineage?: Lineage | undefined }): Lineage {
  return { parent: id, root: lineage?.root ?? id, depth: (lineage?.depth ?? 0) + 1 };
}
