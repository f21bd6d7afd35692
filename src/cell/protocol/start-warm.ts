/**
 * Starts a process that serves many calls, each in a fresh instance.
 *
 * @module
 */
import { createFaultOwner } from '../../fault-owner.ts';
import type { Grant } from '../../policy/grant.ts';
import type { CellParts, CellProcess, CellReport, Job, OpenBroker } from '../contract.ts';
import { makePlaceholders } from './placeholders.ts';
import { WarmCell } from './warm-cell.ts';

/** Memory of a Node process in addition to that of its guest. */
const PROCESS_BYTES = 256 * 1024 * 1024;
const FOREVER_MS = 3_600_000;

export interface WarmPlace extends CellParts {
  openBroker: OpenBroker;
}

/** Returns a process that is now the skill's, if one waits; the grant is what the process itself may do. */
export type TakeSpare = (place: CellParts, grant: Grant) => CellProcess | undefined;

/** Runs one call in a new process that is not reused. */
export async function callWarmOnce(place: WarmPlace, job: Job): Promise<CellReport> {
  const cell = startWarm(place);
  try {
    return await cell.call(job.params, job.signal, job);
  } finally {
    cell.close();
  }
}

/** Starts a process, or takes one that waits for a skill. */
export function startWarm(place: WarmPlace, takeSpare: TakeSpare = () => undefined): WarmCell {
  const { wall, artifact, grant, openBroker } = place;
  return createFaultOwner(() => {
    const own = processGrant(grant);
    const waiting = takeSpare(place, own);
    const process = waiting ?? wall.launch(artifact.spec(grant), own);
    // Read meanwhile, because the process takes longer to start.
    const saved = artifact.saved?.(grant);
    return new WarmCell({
      ...{ process, artifact, grant, openBroker, saved },
      placeholders: makePlaceholders(grant),
      wasWaiting: waiting !== undefined,
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
