/**
 * Copies of bundled skills that a test may build and change.
 *
 * @module
 */
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SKILLS = fileURLToPath(new URL('../../skills', import.meta.url));

const EXAMPLES = fileURLToPath(new URL('../../examples', import.meta.url));

export const bundled = (name: string): string => join(SKILLS, name);

/** A bundled skill, or an example that has to be built first. */
export const ours = (name: string): string =>
  existsSync(bundled(name)) ? bundled(name) : join(EXAMPLES, name);

/** Copies the source of one of our skills to a new folder, without binary and lock. */
export function copySource(name: string, folder: string): string {
  const copy = join(folder, 'copies', name);
  cpSync(ours(name), copy, {
    recursive: true,
    filter: (path) => !/\/skill\.(?:wasm|lock)$/.test(path),
  });
  return copy;
}

/** A skill that uses `fetch` of the host, with the header of the bundled skills. */
export function copyHostFetch(folder: string): string {
  const copy = join(folder, 'copies', 'host_fetch');
  cpSync(join(import.meta.dirname, 'host_fetch'), copy, { recursive: true });
  cpSync(bundled('web/fetch_status/src/skillcell.h'), join(copy, 'src/skillcell.h'));
  return copy;
}

export function editManifest(dir: string, edit: (text: string) => string): void {
  const file = join(dir, 'manifest.yaml');
  const before = readFileSync(file, 'utf8');
  const after = edit(before);
  if (after === before) throw new Error('The edit changed nothing');
  writeFileSync(file, after);
}
