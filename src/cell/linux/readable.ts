/**
 * Makes folders that a cell mounts readable by the cell's user, regardless of the host's umask.
 *
 * @module
 */
import { chmodSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

export function makeReadable(folder: string): void {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isSymbolicLink()) continue;
    chmodSync(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o755 : 0o644);
  }
}
