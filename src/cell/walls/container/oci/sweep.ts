/**
 * Deletes containers of hosts that died without cleaning up. The folder of a cell has the name of its container.
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
  /** Program and global options of the runtime. */
  command: readonly [string, ...string[]];
  /** The folder of all cells. */
  cells: string;
}

/** Returns the names of the deleted containers. */
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

/** Kills the container if it runs, and deletes it from the runtime. A missing container is not an error. */
export async function deleteContainer(command: readonly [string, ...string[]], name: string): Promise<void> {
  const [program, ...options] = command;
  await run(program, [...options, 'delete', '--force', name], { env: {}, cwd: '/' }).catch(() => undefined);
}
