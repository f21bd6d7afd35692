/**
 * The defaults of a skill of kind `script` that depend on the runner of its command.
 *
 * @module
 */
import type { Bundle } from '../../load/bundle.ts';
import type { Manifest } from '../../manifest/manifest.ts';
import { RUNNER_ROWS, type Runner } from '../../vocabulary/commands.ts';

/** Adds the processes that the runner cannot do without, unless the manifest sets their number. */
export function withRunnerDefaults({ kind, manifest }: Bundle, runner: Runner): Manifest {
  if (kind !== 'script') return manifest;
  const { limits } = manifest;
  return { ...manifest, limits: { ...limits, processes: limits.processes ?? RUNNER_ROWS[runner].processes } };
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
