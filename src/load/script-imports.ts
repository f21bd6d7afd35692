/**
 * What each script of an Agent Skills folder imports, and the packages that it seems to need. Imports were found by static
 * inspection, so the list can be wrong.
 *
 * @module
 */
import { isBuiltin } from 'node:module';
import type { Bundle } from './bundle.ts';
import type { Finding } from './inspection.ts';
import { isAvailableModule } from './modules.ts';
import { PYTHON_STDLIB } from './python-stdlib.ts';
import type { ScriptFile } from './scripts.ts';

export interface DescribedScript extends ScriptFile {
  /** Names of imported modules, without those of the standard library. */
  imports: string[];
}

export type ScriptFacts = Pick<Bundle, 'scripts' | 'commands' | 'inspection' | 'files'>;

export function describeScripts({ scripts = [], commands, inspection }: ScriptFacts): DescribedScript[] {
  const python = byFile(inspection.modules, (module) => module.split('.')[0] ?? '');
  const node = byFile(commands?.imports ?? [], nodePackage);
  return scripts.map((script) => ({
    ...script,
    imports: [
      ...(python.get(script.path) ?? []).filter((name) => !PYTHON_STDLIB.has(name)),
      ...(node.get(script.path) ?? []).filter((name) => !isBuiltin(name)),
    ],
  }));
}

/** Imported modules that are neither part of the language nor files of the bundle. */
export function neededModules(facts: ScriptFacts): string[] {
  const sources = { requirements: [], paths: Object.keys(facts.files) };
  const names = describeScripts(facts).flatMap(({ imports, language }) =>
    imports.filter((name) => language === 'node' || !isAvailableModule(name, sources)),
  );
  return [...new Set(names)].sort();
}

/** Relative paths are files of the bundle. */
function nodePackage(name: string): string {
  if (/^[./]/.test(name)) return '';
  return name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/');
}

/** Each name once per file, sorted. */
function byFile(findings: readonly Finding[], nameOf: (value: string) => string): Map<string, string[]> {
  const names = new Map<string, Set<string>>();
  for (const { value, at } of findings) {
    const file = at.replace(/:\d+$/, '');
    const known = names.get(file) ?? new Set();
    names.set(file, known.add(nameOf(value)));
  }
  return new Map([...names].map(([file, known]) => [file, [...known].filter(Boolean).sort()]));
}
