/**
 * Installs the engine on first use: the rewritten module, the compiled standard library and the base image, in a process
 * that can be killed. Stored by digest and shared by all skills.
 *
 *     <home>/python-wasm/<digest>/code/          module, trampoline, library: never change
 *                               /images/<id>/base/     one base image
 *                                           /skills/   saved images of skills
 *
 * @module
 */
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { publishSync } from '../../../load/publish.ts';
import { packageRoot } from '../../../package-root.ts';
import type { Wall } from '../../contract.ts';
import { makeReadable } from '../../linux/readable.ts';
import { runInstaller } from '../node-process/installer.ts';
import { nativeCodeDigest } from './native-code.ts';
import { PYODIDE, readPyodide } from './pyodide.ts';
import { share, takeShared } from './shared-engines.ts';
import { readEngineSources, type EngineSources } from './sources.ts';
import { copyPlain, openWorkplace } from '../node-process/workplace.ts';

const SLOW_MS = 1000;

export interface EngineInstallOptions {
  home: string;
  wall: Wall;
  /** Folder through which homes share engines. */
  shared?: string | undefined;
  /** Called with a status message if the installation takes some time. */
  onProgress?: ((text: string) => void) | undefined;
  /** Folder with the packages whose native code goes into the image. */
  packages?: string | undefined;
}

/** Returns the folder of the engine; installs it if it is missing. */
export async function installEngine(options: EngineInstallOptions): Promise<string> {
  const sources = readEngineSources();
  const folder = join(options.home, 'python-wasm', engineKey(sources, options.packages));
  const { shared } = options;
  if (existsSync(folder) || (shared && takeShared(shared, basename(folder), folder))) return folder;
  await withNotice((onStep) => install({ ...options, onStep }, folder, sources), options);
  if (shared) share(shared, basename(folder), folder);
  return folder;
}

/** What the installer reports at the start of each step, and how people are told. */
const STEPS: Readonly<Record<string, string>> = {
  rewrite: '1 of 3, rewriting the engine',
  library: '2 of 3, compiling the standard library',
  image: '3 of 3, starting the interpreter for the first time',
};

/** Announces slow work with its steps, and says at its end how long it took. */
async function withNotice(
  work: (onStep: (step: string) => void) => Promise<void>,
  { onProgress }: Pick<EngineInstallOptions, 'onProgress'>,
): Promise<void> {
  const startedAt = performance.now();
  let isAnnounced = false;
  let current = 'rewrite';
  const announce = (): void =>
    onProgress?.(`Preparing Python for Wasm, which happens once. Step ${STEPS[current] ?? ''} …`);
  const notice = setTimeout(() => {
    isAnnounced = true;
    announce();
  }, SLOW_MS);
  try {
    await work((step) => {
      if (!Object.hasOwn(STEPS, step)) return;
      current = step;
      if (isAnnounced) announce();
    });
  } finally {
    clearTimeout(notice);
  }
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  if (isAnnounced) onProgress?.(`Prepared Python for Wasm in ${seconds} s.`);
}

/** Adds a base image with another hash seed to an installed engine. */
export async function addImage(options: EngineInstallOptions, folder: string): Promise<void> {
  const library = readFileSync(join(folder, 'code', 'library.zip'));
  const input = { engine: readPyodide().engine, library, isCompiled: true, sources: readEngineSources() };
  await build(options, input, (made) => {
    const write = (draft: string): void => {
      copyPlain(join(made, 'image'), join(draft, 'base'));
      makeReadable(draft);
    };
    // The draft is elsewhere, because everything in the folder `images` counts as an image.
    publishSync(join(folder, 'images', newImageId()), write, { hideIn: dirname(folder) });
  });
}

/** Ids sort by age. */
function newImageId(): string {
  return `${Date.now()}-${randomBytes(4).toString('hex')}`;
}

/** Digest of everything that the image and the rewritten module depend on, such as the size of a card. */
function engineKey(sources: EngineSources, packages: string | undefined): string {
  const code = join(packageRoot(), 'guest', 'wasm');
  const hash = createHash('sha256').update(JSON.stringify([process.version, PYODIDE, sources]));
  const files = readdirSync(code, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  for (const name of files.toSorted()) hash.update(`${name}\0`).update(readFileSync(join(code, name)));
  if (packages !== undefined) hash.update(nativeCodeDigest(packages));
  return hash.digest('hex').slice(0, 32);
}

interface Installing extends EngineInstallOptions {
  onStep?: (step: string) => void;
}

async function install(options: Installing, folder: string, sources: EngineSources): Promise<void> {
  await build(options, { ...readPyodide(), isCompiled: false, sources }, (made) => {
    const write = (draft: string): void => {
      copyPlain(join(made, 'code'), join(draft, 'code'));
      copyPlain(join(made, 'image'), join(draft, 'images', newImageId(), 'base'));
      makeReadable(draft);
    };
    publishSync(folder, write, { keepsExisting: true });
  });
}

interface InstallerInput {
  engine: Buffer;
  library: Buffer;
  isCompiled: boolean;
  sources: EngineSources;
}

/** Runs the installer in a temporary folder; `take` is called with that folder before it is removed. */
async function build(
  options: Installing,
  input: InstallerInput,
  take: (made: string) => void,
): Promise<void> {
  const place = join(options.home, 'python-wasm');
  const workplace = join(place, `making.${randomBytes(6).toString('hex')}`);
  try {
    const { packages } = options;
    // Node does not confine threads, so there are none beside code of packages.
    const threads = packages === undefined;
    writeInput(workplace, { ...input, threads });
    const reads = packages === undefined ? [] : [{ host: packages, guest: '/deps' }];
    await runInstaller({ ...options, reads, flags: threads ? ['--allow-worker'] : [] }, workplace);
    take(workplace);
  } finally {
    rmSync(workplace, { recursive: true, force: true });
  }
}

function writeInput(
  workplace: string,
  { engine, library, ...rest }: InstallerInput & { threads: boolean },
): void {
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
