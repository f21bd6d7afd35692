/**
 * Finds out whether a make of container can be had here, by starting one.
 *
 * @module
 */
import type { EnforcementTable } from '../../policy/enforcement.ts';
import type { WallProbe } from '../contract.ts';
import { failureBehind, unavailable, type Launch } from '../try-program.ts';

/** podman of an ordinary user takes many seconds for its first container on a busy machine. */
const PROBE_TIMEOUT_MS = 30_000;

export interface Trial {
  launch: Launch;
  /** Name, version and findings, for `doctor`. */
  summary: string;
  enforces: EnforcementTable;
  fix: string;
}

export async function tryMake({ launch, summary, enforces, fix }: Trial): Promise<WallProbe> {
  const failure = await failureBehind(launch, PROBE_TIMEOUT_MS);
  if (failure === undefined) return { available: true, summary, enforces };
  // Engines say first what they were about to do.
  return unavailable(`${summary}: it cannot start a container here: ${failure.split('\n').at(-1)}`, fix);
}
