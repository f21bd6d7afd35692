/**
 * Handles uncaught exceptions in long-running commands. A fault ends only the call or cell it happened in, with a receipt;
 * by default, Node would end the process. A fault without an owner is logged and counted. Only front ends that own their
 * process do this; a library must not decide it for the application.
 *
 * @module
 */
import { failOwner, toSkillError, type FaultScope } from '../inside.ts';
import { printNote } from './output.ts';

/** A skill may provoke faults on purpose, so that warnings fill the log. */
const MAX_WARNINGS = 100;

/** Number of faults so far, by what each of them ended. */
export type FaultCounts = Record<FaultScope, number>;

const CONSEQUENCES: Record<FaultScope, string> = {
  call: 'its call has failed; the service keeps running',
  cell: 'its cell was ended; the service keeps running',
  none: 'it belongs to no call; the service keeps running',
};

/** Active for the rest of this process; the returned counts stay up to date. */
export function surviveFaults(): FaultCounts {
  const counts: FaultCounts = { call: 0, cell: 0, none: 0 };
  const survive = (thrown: unknown): void => {
    const blamed = failOwner(thrown);
    if (Object.values(counts).reduce((sum, count) => sum + count) < MAX_WARNINGS) warn(thrown, blamed);
    counts[blamed]++;
  };
  process.on('uncaughtException', survive);
  process.on('unhandledRejection', survive);
  return counts;
}

function warn(thrown: unknown, blamed: FaultScope): void {
  const error = toSkillError(thrown);
  const where = thrown instanceof Error ? `\n${thrown.stack ?? ''}` : '';
  printNote(`warning: ${error.message} (${CONSEQUENCES[blamed]})\nfix: ${error.fix}${where}`);
}
