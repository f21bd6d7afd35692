/**
 * Native code among the files of packages.
 *
 * @module
 */
import { readdirSync, readFileSync } from 'node:fs';
import { libraryCode, type LibraryCode } from './attach.ts';
import type { LinkPlan } from './plan.ts';

/** Where the guest sees the packages. */
const GUEST_FOLDER = '/deps/';
const LIBRARY_FILE = /\.so(?:\.|$)/;

/** Bytes by path inside the guest, in an order that does not depend on the machine. */
export function findLibraries(folder: string): Map<string, Uint8Array> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const libraries = names.filter((name) => LIBRARY_FILE.test(name)).toSorted();
  return new Map(libraries.map((name) => [`${GUEST_FOLDER}${name}`, readFileSync(`${folder}/${name}`)]));
}

/** Compiles exactly the libraries that the plan was made for. */
export function loadLibraries(plan: LinkPlan, folder: string): LibraryCode {
  const modules = plan.libraries.map(({ path, sha256 }) => {
    const bytes = readFileSync(`${folder}/${path.slice(GUEST_FOLDER.length)}`);
    if (digestOf(bytes) !== sha256) throw new Error(`${path} is not the library that was checked`);
    return new WebAssembly.Module(bytes);
  });
  return libraryCode(plan, modules);
}

export function digestOf(bytes: Uint8Array): string {
  // Loaded only if needed: it takes a new process ten milliseconds.
  const { createHash } = process.getBuiltinModule('node:crypto');
  return createHash('sha256').update(bytes).digest('hex');
}
