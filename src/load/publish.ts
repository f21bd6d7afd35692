/**
 * Makes a file or folder beside its place and moves it there whole. On failure, such as a full disk, nothing is left behind.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { renameSync, rmSync } from 'node:fs';

export function publish(target: string, make: (draft: string) => void): void {
  const draft = `${target}.${randomBytes(6).toString('hex')}`;
  try {
    make(draft);
    renameSync(draft, target);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    throw error;
  }
}
