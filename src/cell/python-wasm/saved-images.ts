/**
 * Memory of skills right after their module body, kept for later processes. What is kept came out of the memory of an
 * untrusted guest: it is never read here, and it is only ever given to cells with the very same key.
 *
 * @module
 */
import { createHash, randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { makeReadable } from '../readable.ts';

/** What may be kept of one skill. Beyond it, every process runs the module body itself. */
export const MAX_SAVED_BYTES: number = 8 * 1024 * 1024;
const MAX_SAVED_IMAGES = 128;
const FILE = 'image.bin';

/** Everything that the memory depends on, apart from the base image, below which it is kept. */
export function savedImageKey(parts: unknown): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

/** Folder to mount, undefined when nothing is kept under this key. */
export function findSavedImage(skills: string, key: string): string | undefined {
  const folder = join(skills, key);
  return existsSync(join(folder, FILE)) ? folder : undefined;
}

/** A failure is no harm: the next process runs the module body once more. */
export function saveImage(skills: string, key: string, bytes: Uint8Array): void {
  const folder = join(skills, key);
  const draft = join(folder, randomBytes(6).toString('hex'));
  try {
    mkdirSync(folder, { recursive: true });
    // Cells have to pass through it, whatever the umask is.
    chmodSync(skills, 0o755);
    writeFileSync(draft, bytes);
    makeReadable(folder);
    // Also over one that was found to be damaged.
    renameSync(draft, join(folder, FILE));
    removeOldest(skills);
  } catch {
    rmSync(draft, { force: true });
  }
}

function removeOldest(skills: string): void {
  const names = readdirSync(skills);
  if (names.length <= MAX_SAVED_IMAGES) return;
  const ages = names.map((name) => ({ name, madeAt: statSync(join(skills, name)).mtimeMs }));
  const oldest = ages.toSorted((one, other) => one.madeAt - other.madeAt)[0]?.name;
  if (oldest !== undefined) rmSync(join(skills, oldest), { recursive: true, force: true });
}
