/**
 * The modules from elsewhere that Python files of a bundle import when they are loaded, directly and through other files of
 * the bundle: those of Python itself, and of packages. From static inspection: imports inside functions, and by computed names, are not among them.
 *
 * @module
 */
import { posix } from 'node:path';
import type { Bundle } from './bundle.ts';
import type { Finding } from './inspection.ts';

/** The inspector reports at most this many imports. */
const MAX_LOADS = 500;

export interface LoadedModule {
  /** Its top-level name. */
  name: string;
  /** The first file and line that imports it. */
  at: string;
}

/** `root` comes first in `sys.path`. Returns undefined if the inspection did not report all imports. */
export function loadedModules(
  { inspection, files }: Pick<Bundle, 'inspection' | 'files'>,
  started: readonly string[],
  root: string,
): LoadedModule[] | undefined {
  const { loads } = inspection;
  if (!loads || loads.length >= MAX_LOADS) return undefined;
  const byFile = Map.groupBy(loads, ({ at }) => at.replace(/:\d+$/, ''));
  const own = new OwnModules(Object.keys(files), root);
  const found = new Map<string, LoadedModule>();
  const seen = new Set<string>();
  for (const queue = [...started]; queue.length > 0;) {
    const path = queue.pop() ?? '';
    if (seen.has(path)) continue;
    seen.add(path);
    for (const load of byFile.get(path) ?? []) {
      const inside = own.find(load.value, path);
      if (inside) queue.push(...inside);
      else addModule(found, load);
    }
  }
  return [...found.values()];
}

function addModule(found: Map<string, LoadedModule>, { value, at }: Finding): void {
  const [name = ''] = value.split('.');
  if (name !== '' && !found.has(name)) found.set(name, { name, at });
}

/** The modules that are files of the bundle. */
class OwnModules {
  readonly #files: ReadonlySet<string>;
  readonly #folders: ReadonlySet<string>;
  readonly #root: string;

  constructor(paths: readonly string[], root: string) {
    const python = paths.filter((path) => path.endsWith('.py'));
    this.#files = new Set(python);
    this.#folders = new Set(python.flatMap((path) => foldersAbove(path)));
    this.#root = root;
  }

  /** The files that an import in this file runs; undefined if it does not lead into the bundle. */
  find(value: string, from: string): string[] | undefined {
    const [dots = ''] = /^\.*/.exec(value) ?? [];
    const names = value.slice(dots.length).split('.').filter(Boolean);
    if (dots !== '') return this.#below(folderAbove(from, dots.length), names) ?? [];
    // Many scripts add a folder above them to `sys.path`.
    for (const folder of [this.#root, ...foldersAbove(from), '']) {
      const found = this.#below(folder, names);
      if (found) return found;
    }
    return undefined;
  }

  #below(folder: string, names: readonly string[]): string[] | undefined {
    const found = this.#filesOf(folder);
    let path = folder;
    for (const [index, name] of names.entries()) {
      path = posix.join(path, name);
      const files = this.#files.has(`${path}.py`) ? [`${path}.py`] : this.#filesOf(path);
      if (files.length === 0 && !this.#folders.has(path)) return index === 0 ? undefined : found;
      found.push(...files);
    }
    return found;
  }

  #filesOf(folder: string): string[] {
    const file = posix.join(folder, '__init__.py');
    return this.#files.has(file) ? [file] : [];
  }
}

/** The folder of a file, and those above it, without the bundle itself. */
function foldersAbove(path: string): string[] {
  const folder = posix.dirname(path);
  return folder === '.' || folder === '/' ? [] : [folder, ...foldersAbove(folder)];
}

/** One dot is the folder of the file. */
function folderAbove(path: string, dots: number): string {
  let folder = posix.dirname(path);
  for (let left = dots; left > 1; left -= 1) folder = posix.dirname(folder);
  return folder === '.' ? '' : folder;
}
