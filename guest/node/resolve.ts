/**
 * Which module an import in a bundle means, as in a Wasm cell: files of the bundle are modules whatever a package.json
 * says, `.js` may stand for the `.ts` it will be, JSON needs no attribute, and `skillcell:` names are ours.
 *
 * @module
 */
import { existsSync } from 'node:fs';
import { registerHooks, type ResolveHookContext, type ResolveFnOutput } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';

const OURS: ReadonlyMap<string, string> = new Map([
  ['skillcell:env', './skillcell-env.js'],
  ['skillcell:fs', './skillcell-fs.js'],
]);
const FORMATS: ReadonlyMap<string, string> = new Map([
  ['.js', 'module'],
  ['.mjs', 'module'],
  ['.ts', 'module-typescript'],
  ['.mts', 'module-typescript'],
  ['.json', 'json'],
]);
const ENDING = /\.[a-z]+$/;

/** Undone by the function that it returns. */
export function hookBundle(folder: string): () => void {
  const bundle = pathToFileURL(`${folder}/`).href;
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      const isInside = context.parentURL?.startsWith(bundle) === true || specifier.startsWith(bundle);
      if (!isInside) return next(specifier, context);
      const own = OURS.get(specifier);
      if (own !== undefined) return ours(own, folder);
      return inBundle(resolved(specifier, context, next), bundle);
    },
  });
  return () => hooks.deregister();
}

function ours(file: string, folder: string): ResolveFnOutput {
  const url = new URL(file, import.meta.url);
  // A module has one instance for each address, and this one has to know which bundle it is for.
  if (file.includes('-fs')) url.searchParams.set('bundle', folder);
  return { url: url.href, shortCircuit: true };
}

type Next = (specifier: string, context?: Partial<ResolveHookContext>) => ResolveFnOutput;

/** TypeScript names what will be there once it is compiled. */
function resolved(specifier: string, context: ResolveHookContext, next: Next): ResolveFnOutput {
  const isPath = /^(?:\.{1,2}\/|\/|file:)/.test(specifier);
  if (!isPath || !/\.m?js$/.test(specifier)) return next(specifier, context);
  const url = new URL(specifier, context.parentURL);
  const source = specifier.replace(/js$/, 'ts');
  const isThere = existsSync(fileURLToPath(url));
  const isSource = !isThere && existsSync(fileURLToPath(new URL(source, context.parentURL)));
  return next(isSource ? source : specifier, context);
}

function inBundle(found: ResolveFnOutput, bundle: string): ResolveFnOutput {
  const path = found.url.split('?')[0] ?? '';
  const format = FORMATS.get(ENDING.exec(path)?.[0] ?? '');
  if (!path.startsWith(bundle) || path.includes('/node_modules/') || format === undefined) return found;
  return { ...found, format, ...(format === 'json' ? { importAttributes: { type: 'json' } } : {}) };
}
