/**
 * Saved memory of skills right after their module body, for later processes. The bytes come from an untrusted guest: the
 * host never parses them, and only cells with the same key get them. Their sha256 is stored before them.
 *
 * @module
 */
import { createHash, subtle } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { publishSync } from '../../../load/publish.ts';
import { makeReadable } from '../../linux/readable.ts';

/** Maximum size of one saved image. For larger ones, every process runs the module body itself. */
export const MAX_SAVED_BYTES: number = 8 * 1024 * 1024;
const MAX_SAVED_IMAGES = 128;
const FILE = 'image.bin';
const DIGEST_BYTES = 32;

/** Covers everything that the memory depends on except the base image, whose folder contains it. */
export function savedImageKey(parts: unknown): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

/** Undefined if no image is saved under this key, or if it was damaged. */
export async function readSavedImage(skills: string, key: string): Promise<Uint8Array | undefined> {
  const stored = await readFile(join(skills, key, FILE)).catch(() => undefined);
  if (!stored) return undefined;
  const bytes = stored.subarray(DIGEST_BYTES);
  // Not on this thread, which serves other calls meanwhile.
  const digest = Buffer.from(await subtle.digest('SHA-256', bytes));
  return digest.equals(stored.subarray(0, DIGEST_BYTES)) ? bytes : undefined;
}

/** Failures are ignored, because the next process can run the module body again. */
export function saveImage(skills: string, key: string, bytes: Uint8Array): void {
  const folder = join(skills, key);
  try {
    mkdirSync(folder, { recursive: true });
    // Cells have to enter the folder, regardless of the umask.
    chmodSync(skills, 0o755);
    // Replaces an image that was found to be damaged.
    publishSync(join(folder, FILE), (draft) => {
      writeFileSync(draft, Buffer.concat([createHash('sha256').update(bytes).digest(), bytes]));
      makeReadable(folder);
    });
    removeOldest(skills);
  } catch {
    return;
  }
}

function removeOldest(skills: string): void {
  const names = readdirSync(skills);
  if (names.length <= MAX_SAVED_IMAGES) return;
  const ages = names.map((name) => ({ name, madeAt: statSync(join(skills, name)).mtimeMs }));
  const oldest = ages.toSorted((one, other) => one.madeAt - other.madeAt)[0]?.name;
  if (oldest !== undefined) rmSync(join(skills, oldest), { recursive: true, force: true });
}
