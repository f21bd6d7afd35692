/**
 * Resolves imports. They can name files of the bundle and two modules of ours, and nothing else: names are compared with
 * a list and never become a path of the host.
 *
 * @module
 */
import { posix } from 'node:path';
import { ModuleError } from '../engine/imports.ts';

/** Where skills see their bundle. */
export const BUNDLE = '/skill/';
export const PRELUDE = 'skillcell:prelude/';
/** What skills may import from the prelude. */
const PUBLIC: ReadonlyMap<string, string> = new Map([
  ['skillcell:env', `${PRELUDE}env.js`],
  ['skillcell:fs', `${PRELUDE}fs.js`],
]);
/** TypeScript code names the files that exist after compilation. */
const COMPILED_FROM: ReadonlyMap<string, string> = new Map([
  ['.js', '.ts'],
  ['.mjs', '.mts'],
]);
const MAX_NAME = 200;

export interface ModuleTexts {
  /** JavaScript and JSON files of the bundle by path. */
  bundle: ReadonlyMap<string, string>;
  /** Modules of the prelude by file name. */
  prelude: ReadonlyMap<string, string>;
}

/** Full name of the module that `importer` names. Throws ModuleError. */
export function resolveModule(specifier: string, importer: string, texts: ModuleTexts): string {
  if (importer.startsWith(PRELUDE) && specifier.startsWith('./')) return PRELUDE + specifier.slice(2);
  if (specifier.startsWith('skillcell:')) return PUBLIC.get(specifier) ?? notOurs(specifier);
  const isPath = /^(?:\.{0,2}\/)/.test(specifier);
  if (!isPath) return notBundled(specifier);
  const full = posix.resolve(posix.dirname(importer), specifier);
  const path = full.startsWith(BUNDLE) ? fileOf(full.slice(BUNDLE.length), texts) : undefined;
  if (path !== undefined) return BUNDLE + path;
  throw new ModuleError(`${quote(importer)} imports ${quote(specifier)}, which is not a file of the bundle`);
}

/** Source of a module by its full name. */
export function moduleSource(name: string, { bundle, prelude }: ModuleTexts): string {
  const text = name.startsWith(PRELUDE)
    ? prelude.get(name.slice(PRELUDE.length))
    : bundle.get(name.slice(BUNDLE.length));
  if (text === undefined) throw new ModuleError(`Module ${quote(name)} does not exist`);
  // As a literal, so that the content of the file is always a string here.
  return name.endsWith('.json') ? `export default JSON.parse(${JSON.stringify(text)});` : text;
}

function fileOf(path: string, { bundle }: ModuleTexts): string | undefined {
  if (bundle.has(path)) return path;
  const ending = posix.extname(path);
  const source = path.slice(0, path.length - ending.length) + (COMPILED_FROM.get(ending) ?? ending);
  return bundle.has(source) ? source : undefined;
}

function notOurs(specifier: string): never {
  throw new ModuleError(
    `Module ${quote(specifier)} does not exist; available are ${[...PUBLIC.keys()].join(', ')}`,
  );
}

function notBundled(specifier: string): never {
  throw new ModuleError(
    specifier.startsWith('node:')
      ? `Node modules such as ${quote(specifier)} are not available in this cell`
      : `The package ${quote(specifier)} is not part of the bundle: bundle it with \`skillcell build\``,
  );
}

function quote(text: string): string {
  return JSON.stringify(text.length > MAX_NAME ? `${text.slice(0, MAX_NAME)}…` : text);
}
