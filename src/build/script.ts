/**
 * Builds skills in JavaScript and TypeScript that use npm packages: esbuild bundles everything into one script, which runs
 * like plain source. A skill without packages needs no build.
 *
 * esbuild is found like the other compilers, in the author's project: only authors need it, and it is 10 MB.
 *
 * @module
 */
import { packageRoot } from '../package-root.ts';
import { fetchPackages, hasNpmPackages } from './npm-packages.ts';
import { compile, packageFile, type Workshop } from './tools.ts';

/** Uses the library, because the command is a script or a binary depending on how esbuild was installed. */
const BUNDLE = `
const [library, entry, output, hasNode] = process.argv.slice(1);
const { builtinModules } = require('node:module');
const builtins = new Set(builtinModules.flatMap((name) => [name, 'node:' + name]));
// Reported by esbuild with the file and line of the import.
const nodeModules = {
  name: 'modules of Node',
  setup(build) {
    build.onResolve({ filter: /^[a-z_:\\/]+$/ }, async ({ path, kind, resolveDir, importer, pluginData }) => {
      if (!builtins.has(path) || pluginData === 'asked') return undefined;
      // A package of the same name, such as "buffer" or "events", comes first.
      const options = { kind, resolveDir, importer, pluginData: 'asked' };
      if (!path.startsWith('node:') && (await build.resolve(path, options)).errors.length === 0) return undefined;
      const name = path.startsWith('node:') ? path : 'node:' + path;
      if (hasNode !== 'yes')
        return { errors: [{ text: '"' + path + '" is a module of Node, which the mode wasm does not have' }] };
      if (kind === 'require-call')
        return { errors: [{ text: 'require("' + path + '") cannot be bundled into a module; import "' + name + '"' }] };
      return { path: name, external: true };
    });
  },
};
require(library).build({
  entryPoints: [entry],
  outfile: output,
  bundle: true,
  format: 'esm',
  platform: 'neutral',
  target: 'es2023',
  mainFields: ['module', 'main'],
  external: ['skillcell:*'],
  define: { 'process.env.NODE_ENV': '"production"' },
  plugins: [nodeModules],
  logOverride: { 'unsupported-require-call': 'error', 'unsupported-dynamic-import': 'error', 'indirect-require': 'error' },
  charset: 'utf8',
  logLevel: 'error',
}).catch(() => process.exit(1));
`;

/** `source` is the entry point, relative to the bundle. */
export function buildScript(workshop: Workshop, source: string): void {
  const { bundle, scratch, output, packagesFrom, hasNode, onProgress } = workshop;
  const library = packageFile('esbuild', 'lib/main.js', [...packagesFrom, packageRoot()]);
  const cwd = hasNpmPackages(bundle) ? fetchInto(bundle, scratch, onProgress) : bundle;
  const args = ['-e', BUNDLE, library, source, output, hasNode ? 'yes' : 'no'];
  compile(process.execPath, args, { cwd, source: 'The script' });
}

function fetchInto(bundle: string, scratch: string, onProgress: Workshop['onProgress']): string {
  const startedAt = performance.now();
  onProgress?.('Fetching npm packages; none of their scripts run …');
  const { folder, packages } = fetchPackages(bundle, scratch);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  const count = packages.length === 1 ? '1 package' : `${packages.length} packages`;
  onProgress?.(`Fetched ${count} in ${seconds} s: ${packages.join(', ')}`);
  return folder;
}
