/**
 * Targets for containers.
 *
 * @module
 */
import type { Row } from '../statistics.ts';
import { atMost, factor, type Target } from '../targets.ts';

export const DOCKER_RUN = 'docker run';
/** Backends that call an OCI runtime directly, without an engine in between. */
export const DIRECT_MAKES = ['crun', 'runc'] as const;

const WARM_MS = 10;
const TIMES_AS_FAST = 3;

export const coldName = (make: string): string => `${make} cold`;
export const poolName = (make: string): string => `${make} pool`;

export function checkContainerTargets(rows: readonly Row[]): Target[] {
  const median = (name: string): number => rows.find((row) => row.name === name)?.median ?? NaN;
  const best = (names: readonly string[]): number => {
    const known = names.map(median).filter((ms) => !Number.isNaN(ms));
    return known.length > 0 ? Math.min(...known) : NaN;
  };
  return [
    atMost(`warm call at most ${WARM_MS} ms`, best(DIRECT_MAKES.map(poolName)), WARM_MS),
    factor(
      `cold container at least ${TIMES_AS_FAST} times as fast as ${DOCKER_RUN}`,
      median(DOCKER_RUN) / best(DIRECT_MAKES.map(coldName)),
      TIMES_AS_FAST,
    ),
  ];
}
