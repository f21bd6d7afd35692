/**
 * Probes a container backend by starting a container.
 *
 * @module
 */
import type { EnforcementTable } from '../../../policy/enforcement.ts';
import type { WallProbe } from '../../contract.ts';
import { busy, probeFailure, unavailable, type Launch } from '../try-program.ts';

/** Rootless podman takes many seconds for its first container on a busy machine. */
const PROBE_TIMEOUT_MS = 30_000;

export interface Trial {
  launch: Launch;
  /** Name, version and findings, for `doctor`. */
  summary: string;
  enforces: EnforcementTable;
  fix: string;
}

export async function probeBackend({ launch, summary, enforces, fix }: Trial): Promise<WallProbe> {
  const failure = await probeFailure(launch, PROBE_TIMEOUT_MS);
  if (failure === undefined) return { available: true, summary, enforces };
  if (failure.isTemporary) return busy(`${summary}: cannot start a container now: ${failure.reason}`);
  // Engines print context first and the error last.
  return unavailable(`${summary}: cannot start a container: ${failure.reason.split('\n').at(-1)}`, fix);
}
