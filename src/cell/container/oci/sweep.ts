/**
 * Ends what hosts left behind that died before they could: the folder of a cell tells the name of its container.
 *
 * @module
 */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { isOrphan } from '../owner.ts';

const run = promisify(execFile);

export interface SweepOptions {
  /** Program and options of the runtime, as far as they come before a command. */
  command: readonly [string, ...string[]];
  /** The folder of all cells. */
  cells: string;
}

/** Returns the names of the containers that were ended. */
export async function sweepCells({ command, cells }: SweepOptions): Promise<string[]> {
  const orphans = existsSync(cells) ? readdirSync(cells).filter(isOrphan) : [];
  await Promise.all(
    orphans.map(async (name) => {
      await deleteContainer(command, name);
      await rm(join(cells, name), { recursive: true, force: true });
    }),
  );
  return orphans;
}

/** Ends it if it runs, and has the runtime forget it. One that is not there is no failure. */
export async function deleteContainer(command: readonly [string, ...string[]], name: string): Promise<void> {
  const [program, ...options] = command;
  await run(program, [...options, 'delete', '--force', name], { env: {}, cwd: '/' }).catch(() => undefined);
}
