/**
 * Folders for sockets that live as long as a process of ours. Those of runtimes that died are swept away.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** A new folder that others may pass through, if they know its name, but not list. */
export function makeRunFolder(home: string): string {
  const parent = join(home, 'run');
  sweep(parent);
  const folder = join(parent, `${process.pid}-${randomBytes(6).toString('hex')}`);
  mkdirSync(folder, { recursive: true, mode: 0o711 });
  return folder;
}

/** Removes the folders of runtimes that died before they could. */
function sweep(parent: string): void {
  for (const name of existsSync(parent) ? readdirSync(parent) : []) {
    const owner = Number(name.split('-')[0]);
    if (!existsSync(`/proc/${owner}`)) rmSync(join(parent, name), { recursive: true, force: true });
  }
}
