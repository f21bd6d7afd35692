/**
 * Which commands of a folder with scripts run in Wasm. A command needs the packages that its script imports when it is loaded,
 * not all packages of the folder.
 *
 * @module
 */
import { readdirSync } from 'node:fs';
import { posix } from 'node:path';
import type { Bundle } from '../../../load/bundle.ts';
import { loadedModules, type LoadedModule } from '../../../load/loaded-modules.ts';
import { mayProvide } from '../../../load/modules.ts';
import { PYTHON_STDLIB } from '../../../load/python-stdlib.ts';
import type { ParsedCommand } from '../../../policy/commands/command.ts';
import { usualRunner } from '../../../policy/commands/defaults.ts';
import type { WasmEnvironment } from './requirements.ts';

const BUNDLE = '/skill/';
const ELSEWHERE = 'the modes subprocess and container can run it';

/** Why a command cannot run in Wasm, whatever it imports. */
export function refusesCommand(bundle: Bundle, command: ParsedCommand | undefined): string | undefined {
  const runner = command?.runner ?? usualRunner(bundle);
  if (runner !== 'python') return 'only Python commands run in Wasm; shells, Node and programs do not';
  const { programs = [], skills } = bundle.manifest.capabilities;
  if (skills) return 'commands cannot call skills';
  return programs.length > 0 ? 'the skill may start programs, and Wasm has none' : undefined;
}

/** Why the packages here are not enough. The imports of generated code are not known before it runs. */
export function refusesImports(
  bundle: Bundle,
  { origin, start }: ParsedCommand,
  { folder, absent = [] }: WasmEnvironment,
): string | undefined {
  if (absent.length === 0 || origin === 'generated') return undefined;
  const modules = modulesOf(bundle, start);
  if (!modules)
    return `its imports are not known, and these requirements have no package for Wasm: ${absent.join(', ')}; ${ELSEWHERE}`;
  const here = folder === undefined ? [] : readdirSync(folder).map((name) => name.split('.')[0]);
  for (const { name, at } of modules) {
    if (PYTHON_STDLIB.has(name)) continue;
    const requirement = here.includes(name) ? undefined : absent.find((one) => mayProvide(one, name));
    if (requirement === undefined) continue;
    return `it imports ${name} (${at}), and "${requirement}" has no package for Wasm; ${ELSEWHERE}`;
  }
  return undefined;
}

function modulesOf(bundle: Bundle, start: ParsedCommand['start']): LoadedModule[] | undefined {
  if (start.run === 'file') {
    const file = start.path.slice(BUNDLE.length);
    const folder = posix.dirname(file);
    return loadedModules(bundle, [file], folder === '.' ? '' : folder);
  }
  if (start.run !== 'module') return undefined;
  const path = start.name.replaceAll('.', '/');
  const files = [`${path}.py`, `${path}/__main__.py`].filter((file) => Object.hasOwn(bundle.files, file));
  if (files.length === 0) return [{ name: start.name.split('.')[0] ?? '', at: 'the command' }];
  return loadedModules(bundle, [...files, ...packagesAbove(path, bundle)], '');
}

/** Python imports these before a module. */
function packagesAbove(path: string, { files }: Bundle): string[] {
  const names = path.split('/');
  const above = names.map((_, index) => `${names.slice(0, index + 1).join('/')}/__init__.py`);
  return above.filter((file) => Object.hasOwn(files, file));
}
