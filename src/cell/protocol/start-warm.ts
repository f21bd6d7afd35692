/**
 * Starts a process that serves many calls, each in a fresh instance.
 *
 * @module
 */
import { createFaultOwner } from '../../fault-owner.ts';
import type { Grant } from '../../policy/grant.ts';
import type { CellReport, Job, OpenBroker, CellParts } from '../contract.ts';
import { makePlaceholders } from './placeholders.ts';
import { WarmCell } from './warm-cell.ts';

/** Memory of a Node process in addition to that of its guest. */
const PROCESS_BYTES = 256 * 1024 * 1024;
const FOREVER_MS = 3_600_000;

export interface WarmPlace extends CellParts {
  openBroker: OpenBroker;
}

/** Runs one call in a new process that is not reused. */
export async function callWarmOnce(place: WarmPlace, job: Job): Promise<CellReport> {
  const cell = startWarm(place);
  try {
    return await cell.call(job.params, job.signal, job);
  } finally {
    cell.close();
  }
}

export function startWarm({ wall, artifact, grant, openBroker }: WarmPlace): WarmCell {
  return createFaultOwner(() => {
    const process = wall.launch(artifact.spec(grant), processGrant(grant));
    // Read meanwhile, because the process takes longer to start.
    const saved = artifact.saved?.(grant);
    return new WarmCell({
      ...{ process, artifact, grant, openBroker, saved },
      placeholders: makePlaceholders(grant),
    });
  });
}

/** The process outlives the call, and reaches files and hosts only through the broker. */
function processGrant(grant: Grant): Grant {
  const limits = {
    ...grant.limits,
    timeout: FOREVER_MS,
    cpu: FOREVER_MS,
    memory: grant.limits.memory + PROCESS_BYTES,
  };
  return { ...grant, filesystem: [], network: [], env: {}, limits: { ...limits, processes: 0 } };
}
