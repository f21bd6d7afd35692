/**
 * Every exported name with the first sentence of its doc comment, so that both have one source.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { ROOT } from '../steps.ts';

/** Only for `skillcell-attacks`, and free to change with every release. */
const INTERNAL = './for-attacks';

interface PackageFile {
  exports: Record<string, string | { types: string }>;
}

/** The modules that programs can import, and the source of each. */
export function entryPoints(): Map<string, string> {
  const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as PackageFile;
  const found = new Map<string, string>();
  for (const [subpath, target] of Object.entries(exports)) {
    if (typeof target === 'string' || subpath === INTERNAL) continue;
    const source = target.types.replace(/^\.\/dist\//, '').replace(/\.d\.ts$/, '.ts');
    found.set(join('skillcell', subpath), source);
  }
  return found;
}

export function formatApi(): string {
  const parts = [...entryPoints()].map(([name, source]) => `## \`${name}\`\n\n${formatModule(source)}`);
  return parts.join('\n\n');
}

function formatModule(source: string): string {
  const lines = exportsOf(source).map(([name, file]) => `- \`${name}\`: ${useOf(name, file)}`);
  return lines.join('\n');
}

/** Names that a module re-exports, with the file of each. */
function exportsOf(source: string): [name: string, file: string][] {
  const text = readFileSync(join(ROOT, source), 'utf8');
  const statements = text.matchAll(/^export (?:type )?\{([^}]*)\} from '([^']*)';/gm);
  return [...statements].flatMap(([, names = '', from = '']) =>
    names
      .split(',')
      .map((name) => name.trim().replace(/^type /, ''))
      .filter(Boolean)
      .map((name): [string, string] => [name, normalize(join(dirname(source), from))]),
  );
}

/** The first sentence of the comment above the declaration. */
function useOf(name: string, file: string): string {
  const text = readFileSync(join(ROOT, file), 'utf8');
  const declaration = new RegExp(
    String.raw`^/\*\*((?:(?!\*/)[\s\S])*)\*/\nexport (?:declare |abstract |async )*(?:const|function\*?|class|interface|type) ${name}\b`,
    'm',
  );
  const [, comment] = declaration.exec(text) ?? [];
  const [, from] = comment === undefined ? (exportsOf(file).find(([known]) => known === name) ?? []) : [];
  if (from !== undefined) return useOf(name, from);
  if (comment === undefined)
    throw new Error(`"${name}" in ${file} has no doc comment. Describe what programs use it for`);
  const words = comment
    .replaceAll(/^\s*\*? ?/gm, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
  if (words.startsWith('@'))
    throw new Error(`The comment on "${name}" in ${file} has an example but no sentence`);
  const [, sentence = words] = /^(.*?[.!?])(?= [A-Z@`]|$)/.exec(words) ?? [];
  return sentence.replaceAll(/\{@link (\w+)\}/g, '`$1`');
}
