/**
 * The last resort of commands that serve many: a fault that nobody caught ends the call or cell that it happened in, with a
 * receipt, and no other. Node would end the process. A fault that belongs to nobody is told and counted. Only front ends
 * that own their process do this; a library must not decide it for the application.
 *
 * @module
 */
import { failOwner, toSkillError, type Blamed } from '../index.ts';
import { printNote } from './output.ts';

/** More of them say nothing new, and somebody may make them on purpose. */
const MOST_TOLD = 100;

/** Faults so far, by who was ended because of them. */
export type FaultCounts = Record<Blamed, number>;

const CONSEQUENCES: Record<Blamed, string> = {
  call: 'its call has failed, the service goes on',
  cell: 'its cell has been ended, the service goes on',
  none: 'it belongs to no call, the service goes on',
};

/** For the rest of this process. What it returns goes on counting. */
export function surviveFaults(): FaultCounts {
  const counts: FaultCounts = { call: 0, cell: 0, none: 0 };
  const survive = (thrown: unknown): void => {
    const blamed = failOwner(thrown);
    if (Object.values(counts).reduce((sum, count) => sum + count) < MOST_TOLD) warn(thrown, blamed);
    counts[blamed]++;
  };
  process.on('uncaughtException', survive);
  process.on('unhandledRejection', survive);
  return counts;
}

function warn(thrown: unknown, blamed: Blamed): void {
  const error = toSkillError(thrown);
  const where = thrown instanceof Error ? `\n${thrown.stack ?? ''}` : '';
  printNote(`warning: ${error.message} (${CONSEQUENCES[blamed]})\nfix: ${error.fix}${where}`);
}
