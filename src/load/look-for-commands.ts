/**
 * Searches a bundle for commands: on this thread if the bundle is certainly small, on a worker thread otherwise.
 *
 * @module
 */
import { basename, join } from 'node:path';
import type { Kind } from '../vocabulary/kinds.ts';
import type { Offload } from '../offload/offload.ts';
import { TaskEndedError } from '../offload/task.ts';
import { FIND_COMMANDS } from './command-tasks.ts';
import { countCandidates, findCommands, type CommandCaps, type Commands } from './commands.ts';
import { keepCommands, knownCommands } from './known-commands.ts';

/** Takes a millisecond or two on this thread. */
export const COMMANDS_HERE: CommandCaps = { bytes: 16 * 1024, files: 16 };
/** The largest bundle takes a fraction of this. */
const DEADLINE_MS = 10_000;

export interface SearchDeps {
  offload: Offload;
  /** Skillcell's own folder: what a worker thread found in a bundle is kept there. */
  home: string;
  /** The code that searches; absent: it may change, so nothing is kept. */
  build: string | undefined;
}

export async function lookForCommands(
  bundle: { stagedDir: string; paths: readonly string[]; kind: Kind },
  { offload, home, build }: SearchDeps,
): Promise<Commands> {
  const { stagedDir, paths, kind } = bundle;
  const searchHere = (): Commands => findCommands(stagedDir, paths, { caps: COMMANDS_HERE, kind });
  // By their names: otherwise, the first files of every large bundle would be read twice.
  const isLarge = countCandidates(paths, kind) > COMMANDS_HERE.files;
  const here = isLarge ? undefined : searchHere();
  if (here?.skipped.length === 0) return here;
  // The folder is named after the digest of its files.
  const name = `${basename(stagedDir)}-${kind}-${build}.commands.json`;
  const file = build === undefined ? undefined : join(home, 'inspected', name);
  const known = file === undefined ? undefined : knownCommands(file);
  if (known) return known;
  try {
    const found = await offload.run(
      FIND_COMMANDS,
      { stagedDir, paths, kind },
      { deadlineMs: DEADLINE_MS, owner: stagedDir },
    );
    if (file !== undefined) keepCommands(file, found);
    return found;
  } catch (error) {
    // Partial findings are enough for warnings, which also list the skipped files.
    if (error instanceof TaskEndedError && error.reason !== 'closed') return here ?? searchHere();
    throw error;
  }
}
