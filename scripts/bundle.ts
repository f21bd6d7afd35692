/**
 * Makes the JavaScript of the package: loading some files is much faster than loading hundreds, and libraries that are part
 * of it need not be installed. Declarations come from the compiler.
 *
 *     node scripts/with-node.js scripts/bundle.ts DIST
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { build, type Metafile, type Plugin } from 'esbuild';
import { compiledDraftCheck } from './compiled-draft.ts';
import { entriesOf, readDescription } from './make-entries.ts';
import { ROOT } from './steps.ts';

/** Libraries that stay packages: they bring files of their own, or the user's program has to share them. */
const EXTERNAL = ['pyodide', 'quickjs-wasi', '@opentelemetry/api'];

/** Modules that worker threads load by their path. */
const TASK_PATTERN = /besideThis\(import\.meta\.url, '\.\/([\w-]+)'\)/g;

/** CommonJS libraries in the bundle call `require` for modules of Node. */
const BANNER = `import { createRequire as skillcellCreateRequire } from 'node:module';
const require = skillcellCreateRequire(import.meta.url);`;

/** The code of a file may end up in a shared chunk, and must still know its own place below `dist`. */
const ownPlace: Plugin = {
  name: 'own-place',
  setup: (bundler) => {
    bundler.onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      if (path.includes('/node_modules/') || !text.includes('besideThis(import.meta.url')) return undefined;
      const place = relative(ROOT, path).replace(/\.ts$/, '.js');
      const url = `(import.meta.url.slice(0, import.meta.url.lastIndexOf('/dist/') + 6) + ${JSON.stringify(place)})`;
      return { contents: text.replaceAll('import.meta.url', url), loader: 'ts' };
    });
  },
};

/** The code that Ajv makes of the schema of schemas, in place of the module that has Ajv make it at every start. */
const compiledDraft: Plugin = {
  name: 'compiled-draft',
  setup: (bundler) => {
    bundler.onLoad({ filter: /\/src\/manifest\/draft-check\.ts$/ }, () => ({
      contents: compiledDraftCheck(),
      loader: 'js',
      resolveDir: ROOT,
    }));
  },
};

export async function bundle(dist: string): Promise<void> {
  // Worker threads share no objects with the host. Code that both used would be cut into more files, which load slower.
  const parts = [
    await bundlePart(dist, { entryPoints: entryFiles(), chunks: 'src/chunks' }),
    await bundlePart(dist, { entryPoints: taskFiles(), chunks: 'src/task-chunks' }),
  ];
  writeFileSync(join(dist, 'THIRD-PARTY.txt'), licencesOf(parts));
}

interface Part {
  entryPoints: string[];
  /** Folder of the code that several entry points share. */
  chunks: string;
}

async function bundlePart(dist: string, { entryPoints, chunks }: Part): Promise<Metafile> {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints,
    outbase: ROOT,
    outdir: dist,
    chunkNames: `${chunks}/[name]-[hash]`,
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    define: { SKILLCELL_BUILD: JSON.stringify(buildId()) },
    // Frameworks of agents are the user's own.
    external: [...EXTERNAL, ...Object.keys(readDescription().peerDependencies)],
    banner: { js: BANNER },
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
    plugins: [compiledDraft, ownPlace],
  });
  return metafile;
}

/** Changes with the code of the package and with its libraries. */
function buildId(): string {
  const hash = createHash('sha256');
  for (const file of ['package-lock.json', ...globSync('src/**/*.ts', { cwd: ROOT }).toSorted()])
    hash.update(`${file}\0`).update(readFileSync(join(ROOT, file)));
  return hash.digest('hex').slice(0, 32);
}

function entryFiles(): string[] {
  const parts = entriesOf(readDescription()).map(({ module }) => `src/${module}.ts`);
  return [...new Set(['src/cli/main.ts', ...parts])];
}

function taskFiles(): string[] {
  const tasks = globSync('src/**/*.ts', { cwd: ROOT }).flatMap((file) =>
    [...readFileSync(join(ROOT, file), 'utf8').matchAll(TASK_PATTERN)].map(([, name = '']) =>
      join(file, '..', `${name}.ts`),
    ),
  );
  return [...new Set(tasks)];
}

/** The licences of the libraries in the bundle ask to be passed on. */
function licencesOf(parts: readonly Metafile[]): string {
  const inputs = parts.flatMap((part) => Object.keys(part.inputs));
  const names = inputs.flatMap((file) => {
    const [, name] = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file) ?? [];
    return name === undefined ? [] : [name];
  });
  return [...new Set(names)].toSorted().map(licenceOf).join('\n');
}

function licenceOf(name: string): string {
  const folder = join(ROOT, 'node_modules', name);
  const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    version: string;
    license: string;
  };
  const [file] = globSync('LICEN[CS]E*', { cwd: folder });
  const text = file === undefined ? '' : readFileSync(join(folder, file), 'utf8').trim();
  return `== ${name} ${version} (${license})\n\n${text}\n`;
}

if (import.meta.main) {
  const [, , dist = join(ROOT, 'dist')] = process.argv;
  for (const chunks of ['src/chunks', 'src/task-chunks'])
    rmSync(join(dist, chunks), { recursive: true, force: true });
  await bundle(dist);
}
