/**
 * Resolves imports in a bundle as in a Wasm cell: all files of the bundle are modules, regardless of package.json, `.js`
 * may refer to a `.ts` file, JSON needs no import attribute, and `skillcell:` names are ours.
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

/** Installs the import hooks of a bundle; the returned function removes them. */
export function hookBundle(folder: string): () => void {
  const bundle = pathToFileURL(`${folder}/`).href;
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      const isInside = context.parentURL?.startsWith(bundle) === true || specifier.startsWith(bundle);
      if (!isInside) return next(specifier, context);
      const own = OURS.get(specifier);
      if (own !== undefined) return ownModule(own, folder);
      return inBundle(resolveSource(specifier, context, next), bundle);
    },
  });
  return () => hooks.deregister();
}

/** The module at this address has this source, whatever the file says. */
export function replaceSource(address: string, source: string): void {
  registerHooks({
    load: (url, context, next) =>
      url === address ? { format: 'module', source, shortCircuit: true } : next(url, context),
  });
}

function ownModule(file: string, folder: string): ResolveFnOutput {
  const url = new URL(file, import.meta.url);
  // The query gives each bundle its own instance, which has to know the bundle's folder.
  if (file.includes('-fs')) url.searchParams.set('bundle', folder);
  return { url: url.href, shortCircuit: true };
}

type Next = (specifier: string, context?: Partial<ResolveHookContext>) => ResolveFnOutput;

/** TypeScript source may import `./x.js` and mean `./x.ts`. */
function resolveSource(specifier: string, context: ResolveHookContext, next: Next): ResolveFnOutput {
  const isPath = /^(?:\.{1,2}\/|\/|file:)/.test(specifier);
  if (!isPath || !/\.m?js$/.test(specifier)) return next(specifier, context);
  const url = new URL(specifier, context.parentURL);
  const source = specifier.replace(/js$/, 'ts');
  const exists = existsSync(fileURLToPath(url));
  const isSource = !exists && existsSync(fileURLToPath(new URL(source, context.parentURL)));
  return next(isSource ? source : specifier, context);
}

function inBundle(found: ResolveFnOutput, bundle: string): ResolveFnOutput {
  const path = found.url.split('?')[0] ?? '';
  const format = FORMATS.get(ENDING.exec(path)?.[0] ?? '');
  if (!path.startsWith(bundle) || path.includes('/node_modules/') || format === undefined) return found;
  return { ...found, format, ...(format === 'json' ? { importAttributes: { type: 'json' } } : {}) };
}
