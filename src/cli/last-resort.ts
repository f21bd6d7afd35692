/**
 * The last resort of commands that serve many: what nobody caught ends no other call. Node would end the process. A call
 * that it happened in runs into its deadline, which kills its cell and writes its receipt. Only front ends that own their
 * process do this; a library must not decide it for the application.
 *
 * @module
 */
import { toSkillError } from '../index.ts';
import { printNote } from './output.ts';

/** More of them say nothing new, and somebody may make them on purpose. */
const MOST_TOLD = 100;

/** For the rest of this process. */
export function surviveFaults(): void {
  let told = 0;
  const tell = (thrown: unknown): void => {
    if (++told > MOST_TOLD) return;
    const error = toSkillError(thrown);
    const where = thrown instanceof Error ? `\n${thrown.stack ?? ''}` : '';
    printNote(`warning: ${error.message} (the service goes on)\nfix: ${error.fix}${where}`);
  };
  process.on('uncaughtException', tell);
  process.on('unhandledRejection', tell);
}
