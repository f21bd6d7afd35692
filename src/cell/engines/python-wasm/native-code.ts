/**
 * Native code in installed packages. An engine is built for it, with the code in its image.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const LIBRARY_FILE = /\.so(?:\.|$)/;

/** Paths of the native libraries in the folder. */
export function nativeCodeIn(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => LIBRARY_FILE.test(name)).toSorted();
}

/** Digest of the libraries, which identifies an engine that contains them. */
export function nativeCodeDigest(folder: string): string {
  const hash = createHash('sha256');
  for (const name of nativeCodeIn(folder)) {
    const bytes = readFileSync(join(folder, name));
    hash.update(`${name}\0${bytes.length}\0`).update(bytes);
  }
  return hash.digest('hex');
}
