/**
 * Makes the engine ready on first use: the rewritten module, the compiled standard library and the base image, in a
 * process that can be killed. Kept by digest and shared by all skills.
 *
 *     <home>/python-wasm/<digest>/code/          module, trampoline, library: never change
 *                               /images/<id>/base/     one base image
 *                                           /skills/   what skills made of it
 *
 * @module
 */
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { packageRoot } from '../../package-root.ts';
import type { Wall } from '../contract.ts';
import { makeReadable } from '../readable.ts';
import { runInstaller } from '../node/installer.ts';
import { nativeCodeDigest } from './native-code.ts';
import { PYODIDE, readPyodide } from './pyodide.ts';
import { share, takeShared } from './shared-engines.ts';
import { readEngineSources, type EngineSources } from './sources.ts';
import { copyPlain, openWorkplace } from '../node/workplace.ts';

const SLOW_MS = 1000;

export interface EngineInstallOptions {
  home: string;
  wall: Wall;
  /** Where other homes may have left an engine, and find this one. */
  shared?: string | undefined;
  /** Gets a sentence for people when it takes more than a moment. */
  onProgress?: ((text: string) => void) | undefined;
  /** Folder of packages whose native code goes into the image. */
  packages?: string | undefined;
}

/** Folder of the engine; made when it is missing. */
export async function installEngine(options: EngineInstallOptions): Promise<string> {
  const sources = readEngineSources();
  const folder = join(options.home, 'python-wasm', engineKey(sources, options.packages));
  const { shared } = options;
  if (existsSync(folder) || (shared && takeShared(shared, basename(folder), folder))) return folder;
  const notice = setTimeout(() => {
    options.onProgress?.('Preparing Python for Wasm, once: this takes some seconds.');
  }, SLOW_MS);
  try {
    await install(options, folder, sources);
  } finally {
    clearTimeout(notice);
  }
  if (shared) share(shared, basename(folder), folder);
  return folder;
}

/** Adds a base image with another hash seed to an installed engine. */
export async function addImage(options: EngineInstallOptions, folder: string): Promise<void> {
  const library = readFileSync(join(folder, 'code', 'library.zip'));
  const input = { engine: readPyodide().engine, library, isCompiled: true, sources: readEngineSources() };
  await build(options, input, (made) => {
    const draft = `${folder}.${randomBytes(6).toString('hex')}`;
    copyPlain(join(made, 'image'), join(draft, 'base'));
    makeReadable(draft);
    renameSync(draft, join(folder, 'images', newImageId()));
  });
}

/** Sorts by age. */
function newImageId(): string {
  return `${Date.now()}-${randomBytes(4).toString('hex')}`;
}

/** Everything that the image depends on. */
function engineKey(sources: EngineSources, packages: string | undefined): string {
  const code = join(packageRoot(), 'guest', 'wasm', 'python');
  const hash = createHash('sha256').update(JSON.stringify([process.version, PYODIDE, sources]));
  const files = readdirSync(code, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  for (const name of files.toSorted()) hash.update(`${name}\0`).update(readFileSync(join(code, name)));
  if (packages !== undefined) hash.update(nativeCodeDigest(packages));
  return hash.digest('hex').slice(0, 32);
}

async function install(options: EngineInstallOptions, folder: string, sources: EngineSources): Promise<void> {
  await build(options, { ...readPyodide(), isCompiled: false, sources }, (made) => {
    const draft = `${folder}.${randomBytes(6).toString('hex')}`;
    copyPlain(join(made, 'code'), join(draft, 'code'));
    copyPlain(join(made, 'image'), join(draft, 'images', newImageId(), 'base'));
    makeReadable(draft);
    try {
      renameSync(draft, folder);
    } catch (error) {
      // Another process may have been faster.
      rmSync(draft, { recursive: true, force: true });
      if (!existsSync(folder)) throw error;
    }
  });
}

interface InstallerInput {
  engine: Buffer;
  library: Buffer;
  isCompiled: boolean;
  sources: EngineSources;
}

/** Runs the installer in a folder of its own; `take` gets that folder before it goes away. */
async function build(
  options: EngineInstallOptions,
  input: InstallerInput,
  take: (made: string) => void,
): Promise<void> {
  const place = join(options.home, 'python-wasm');
  const workplace = join(place, `making.${randomBytes(6).toString('hex')}`);
  try {
    writeInput(workplace, input);
    const { packages } = options;
    const reads = packages === undefined ? [] : [{ host: packages, guest: '/deps' }];
    await runInstaller({ ...options, reads }, workplace);
    take(workplace);
  } finally {
    rmSync(workplace, { recursive: true, force: true });
  }
}

function writeInput(workplace: string, { engine, library, ...rest }: InstallerInput): void {
  const input = join(workplace, 'input');
  openWorkplace(workplace);
  mkdirSync(input);
  writeFileSync(join(input, 'engine.wasm'), engine);
  writeFileSync(join(input, 'library.zip'), library);
  const digests = { engine: digestOf(engine), library: digestOf(library) };
  writeFileSync(join(input, 'input.json'), JSON.stringify({ sha256: digests, ...rest }));
  makeReadable(input);
}

function digestOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
