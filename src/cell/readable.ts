/**
 * Folders that a cell mounts have to be readable by the cell's user, whatever the host's umask was.
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
