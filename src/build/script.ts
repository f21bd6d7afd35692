/**
 * Builds skills in JavaScript and TypeScript that use npm packages: esbuild puts all of it into one script, which runs as
 * plain source does. A skill without packages needs no build.
 *
 * @module
 */
import { packageRoot } from '../package-root.ts';
import { compile, packageFile, type Workshop } from './tools.ts';

/** By its library: its command is a script or a binary, depending on how it was installed. */
const BUNDLE = `
const [library, entry, output] = process.argv.slice(1);
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
  charset: 'utf8',
  logLevel: 'error',
}).catch(() => process.exit(1));
`;

/** `source`: where the skill begins, inside the bundle. */
export function buildScript({ bundle, output, packagesFrom }: Workshop, source: string): void {
  const library = packageFile('esbuild', 'lib/main.js', [...packagesFrom, packageRoot()]);
  compile(process.execPath, ['-e', BUNDLE, library, source, output], { cwd: bundle, source: 'The script' });
}
