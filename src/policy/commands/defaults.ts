/**
 * What a skill of kind `script` may do without a manifest: read the workspace of the call, and start the processes that
 * its runner cannot do without.
 *
 * @module
 */
import type { Bundle } from '../../load/bundle.ts';
import type { Manifest } from '../../manifest/manifest.ts';
import { RUNNER_ROWS, type Runner } from '../../vocabulary/commands.ts';

const WORKSPACE = '${workspace}';

export interface CallDefaults {
  runner: Runner;
  hasWorkspace: boolean;
}

/** The manifest of one call. What the manifest itself declares stays as it is. */
export function manifestForCall(
  { kind, manifest }: Bundle,
  { runner, hasWorkspace }: CallDefaults,
): Manifest {
  if (kind !== 'script') return manifest;
  const { capabilities, limits } = manifest;
  const { filesystem } = capabilities;
  const declares = filesystem.some(({ path }) => path === WORKSPACE || path.startsWith(`${WORKSPACE}/`));
  const workspace = hasWorkspace && !declares ? [{ path: WORKSPACE, access: 'read' as const }] : [];
  return {
    ...manifest,
    capabilities: { ...capabilities, filesystem: [...filesystem, ...workspace] },
    limits: { ...limits, processes: limits.processes ?? RUNNER_ROWS[runner].processes },
  };
}

/** The runner of a skill whose command is not known yet: that of most of its scripts. */
export function usualRunner({ files }: Pick<Bundle, 'files'>): Runner {
  const count = (ending: RegExp): number => Object.keys(files).filter((path) => ending.test(path)).length;
  const counts: [Runner, number][] = [
    ['python', count(/\.py$/)],
    ['node', count(/\.(?:[cm]?js|ts)$/)],
    ['program', count(/\.(?:sh|bash)$/)],
  ];
  return counts.reduce((most, one) => (one[1] > most[1] ? one : most))[0];
}
