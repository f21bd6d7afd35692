/**
 * Decides which thread looks for commands in a bundle: this one if it is surely small, a worker thread otherwise.
 *
 * @module
 */
import type { Offload } from '../offload/offload.ts';
import { TaskEndedError } from '../offload/task.ts';
import { FIND_COMMANDS } from './command-tasks.ts';
import { findCommands, type CommandCaps, type Commands } from './commands.ts';

/** A millisecond or two of patterns. */
export const COMMANDS_HERE: CommandCaps = { bytes: 16 * 1024, files: 16 };
/** The largest bundle takes a fraction of it. */
const DEADLINE_MS = 10_000;

export async function lookForCommands(
  stagedDir: string,
  paths: readonly string[],
  offload: Offload,
): Promise<Commands> {
  const here = findCommands(stagedDir, paths, COMMANDS_HERE);
  if (here.skipped.length === 0) return here;
  try {
    return await offload.run(
      FIND_COMMANDS,
      { stagedDir, paths },
      { deadlineMs: DEADLINE_MS, owner: stagedDir },
    );
  } catch (error) {
    // What was found so far are warnings, and they say which files are missing in it.
    if (error instanceof TaskEndedError && error.reason !== 'closed') return here;
    throw error;
  }
}
