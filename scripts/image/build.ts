/**
 * The image of Skillcell on bases made of Debian packages, where no image can be pulled.
 *
 * @module
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { runProgram } from '../steps.ts';

const SUITE = 'bookworm';
const DEBIAN_BASE = 'localhost/skillcell-try-debian';
const BUILD_BASE = 'localhost/skillcell-try-npm';
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';

export interface BuildPlaces {
  /** The engine that builds, with its global options. */
  command: readonly string[];
  image: string;
  dockerfile: string;
  /** Whether intermediate images stay, for a faster build next time. */
  keep: boolean;
}

export interface Bases {
  base: string;
  buildBase: string;
}

/** Builds the image on these bases, or on new ones; false if a step fails. */
export function buildWithDebian(places: BuildPlaces, given?: Bases): boolean {
  const bases = given ?? makeBases(places);
  if (!bases) return false;
  const args = [`--build-arg=BASE=${bases.base}`, `--build-arg=BUILD_BASE=${bases.buildBase}`];
  const build = ['build', layersOf(places), '--format=docker', '--network=host', ...args, '-t', places.image];
  return run(places.command, [...build, '-f', places.dockerfile, '.']);
}

/** Copies the image to another engine. */
export function importInto(
  to: { command: readonly string[]; env: NodeJS.ProcessEnv },
  { from, image }: { from: readonly string[]; image: string },
): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'skillcell-image-'));
  const archive = join(folder, 'image.tar');
  try {
    return run(from, ['save', '-o', archive, image]) && run(to.command, ['load', '-i', archive], to.env);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export function removeImages({ command, image }: BuildPlaces): void {
  for (const name of [image, BUILD_BASE, DEBIAN_BASE]) run(command, ['rmi', '--ignore', name]);
}

function makeBases(places: BuildPlaces): Bases | undefined {
  const { command } = places;
  const folder = mkdtempSync(join(tmpdir(), 'skillcell-bases-'));
  const archive = join(folder, 'debian.tar');
  try {
    const made =
      runProgram('mmdebstrap', ['--variant=minbase', '--quiet', SUITE, archive]) &&
      run(command, ['import', '--quiet', archive, DEBIAN_BASE]) &&
      makeBuildBase(places, folder);
    return made ? { base: DEBIAN_BASE, buildBase: BUILD_BASE } : undefined;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The Debian base with the Node that runs this, the npm of this machine, and the authorities that it trusts. */
function makeBuildBase(places: BuildPlaces, folder: string): boolean {
  const npm = npmFolder();
  if (npm === undefined) {
    console.log('There is no npm on this machine: pass --base and --build-base.');
    return false;
  }
  const context = mkdtempSync(join(folder, 'context-'));
  copyFileSync(process.execPath, join(context, 'node'));
  cpSync(npm, join(context, 'npm'), { recursive: true });
  copyFileSync(CERTIFICATES, join(context, 'ca-certificates.crt'));
  writeFileSync(join(context, 'Dockerfile'), buildBaseRecipe());
  return run(places.command, [
    'build',
    layersOf(places),
    '--quiet',
    '--network=host',
    '-t',
    BUILD_BASE,
    context,
  ]);
}

function buildBaseRecipe(): string {
  return [
    `FROM ${DEBIAN_BASE}`,
    'RUN apt-get update -qq && apt-get install -qq --yes --no-install-recommends libatomic1 >/dev/null',
    'COPY node /usr/local/bin/node',
    'COPY npm /usr/local/lib/node_modules/npm',
    `COPY ca-certificates.crt ${CERTIFICATES}`,
    'RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm',
    `ENV NODE_EXTRA_CA_CERTS=${CERTIFICATES} npm_config_cafile=${CERTIFICATES}`,
    '',
  ].join('\n');
}

function layersOf({ keep }: BuildPlaces): string {
  return `--layers=${keep}`;
}

function npmFolder(): string | undefined {
  const found = spawnSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).stdout.trim();
  if (found === '') return undefined;
  const folder = dirname(dirname(realpathSync(found)));
  return existsSync(join(folder, 'bin', 'npm-cli.js')) ? folder : undefined;
}

function run(
  [program = '', ...first]: readonly string[],
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): boolean {
  return runProgram(program, [...first, ...args], { env });
}
