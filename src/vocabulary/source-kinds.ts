/**
 * Where skills come from.
 *
 * @module
 */
import { namesOf } from './table.ts';

interface SourceKindRow {
  /** How a reference starts. */
  prefix: string;
  /** The prefix for a server on this machine, if it differs. */
  loopbackPrefix?: string;
  meaning: string;
}

export const SOURCE_KINDS = {
  oci: { prefix: 'oci://', meaning: 'a registry' },
  github: { prefix: 'github:', meaning: 'a repository on GitHub' },
  git: { prefix: 'git+', meaning: 'a git repository' },
  npm: { prefix: 'npm:', meaning: 'a package of an npm registry' },
  file: { prefix: 'file:', meaning: 'a folder or archive on this machine' },
  https: { prefix: 'https://', loopbackPrefix: 'http://', meaning: 'a well-known index of a web site' },
} as const;

export type SourceKind = keyof typeof SOURCE_KINDS;

export const SOURCE_KIND_NAMES: readonly SourceKind[] = namesOf(SOURCE_KINDS);
const ROWS: Readonly<Record<SourceKind, SourceKindRow>> = SOURCE_KINDS;

/** The kind of a reference by its prefix. */
export function sourceKindOf(reference: string): SourceKind | undefined {
  return SOURCE_KIND_NAMES.find((kind) => {
    const { prefix, loopbackPrefix } = ROWS[kind];
    return (
      reference.startsWith(prefix) || (loopbackPrefix !== undefined && reference.startsWith(loopbackPrefix))
    );
  });
}
