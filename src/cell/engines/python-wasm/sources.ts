/**
 * The Python source that goes into the engine's image: the harness that both Python engines share, the parts specific to
 * Wasm, and additions to the standard library.
 *
 * @module
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../../package-root.ts';

/** Parts of the shared harness that only make sense in a native process. */
const NATIVE_ONLY: ReadonlySet<string> = new Set([
  'main.py',
  'zygote.py',
  '_skillcell/launcher.py',
  '_skillcell/lockdown.py',
  '_skillcell/zygote.py',
]);

export interface EngineSources {
  boot: string;
  compile: string;
  /** Modules, and additions to modules of the library, by their path. */
  added: Record<string, string>;
}

export function readEngineSources(): EngineSources {
  const guest = join(packageRoot(), 'guest');
  const shared = readPython(join(guest, 'python'));
  for (const path of NATIVE_ONLY) delete shared[path];
  const {
    'boot.py': boot = '',
    'compile.py': compile = '',
    ...own
  } = readPython(join(guest, 'wasm', 'python', 'harness'));
  const library = readPython(join(guest, 'wasm', 'python', 'stdlib'));
  return { boot, compile, added: { ...shared, ...own, ...library } };
}

function readPython(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.py'))
    .toSorted();
  return Object.fromEntries(files.map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
}
