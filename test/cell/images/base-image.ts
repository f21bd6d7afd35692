/**
 * The base image for tests, built once for all of them: the first test builds it, the others wait. It is kept between runs
 * under the digest of its sources.
 *
 * @module
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { buildBase } from '../../../src/build/container/base-image.ts';
import { createImageStore } from '../../../src/cell/images/store.ts';

export interface SharedBase {
  /** A Skillcell home that contains only the image. Read it, or copy it with `seedImages`. */
  home: string;
  reference: string;
  digest: string;
}

const PATIENCE_MS = 600_000;

export async function sharedBaseImage(): Promise<SharedBase> {
  const home = join(tmpdir(), `skillcell-base-${process.getuid?.() ?? 0}-${sourcesDigest()}`);
  const [note, claim] = [join(home, 'ready.json'), `${home}.claim`];
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await sleep(100)) {
    if (existsSync(note)) return JSON.parse(readFileSync(note, 'utf8')) as SharedBase;
    if (!takeClaim(claim)) continue;
    try {
      return await build(home, note);
    } finally {
      rmSync(claim, { recursive: true, force: true });
    }
  }
  throw new Error(`The base image in ${home} was not built in time`);
}

/** Adds the shared image, unpacked, to the home of a test, as hard links. */
export async function seedImages(home: string): Promise<SharedBase> {
  const base = await sharedBaseImage();
  mkdirSync(home, { recursive: true });
  const copied = spawnSync('cp', ['-al', join(base.home, 'images'), home], { encoding: 'utf8' });
  if (copied.status !== 0) throw new Error(`The base image could not be copied: ${copied.stderr}`);
  return { ...base, home };
}

async function build(home: string, note: string): Promise<SharedBase> {
  mkdirSync(home, { recursive: true, mode: 0o755 });
  const { reference, digest } = await buildBase('python', { home });
  const images = createImageStore({ home });
  const image = await images.find(digest);
  if (image) await images.rootfs(image);
  const base = { home, reference, digest };
  // Renamed atomically, because other tests read the file as soon as it exists.
  writeFileSync(`${note}.new`, JSON.stringify(base));
  renameSync(`${note}.new`, note);
  return base;
}

/** True for the one process that may build. A claim of a dead process is removed. */
function takeClaim(claim: string): boolean {
  try {
    mkdirSync(claim);
    writeFileSync(join(claim, String(process.pid)), '');
    return true;
  } catch {
    const [owner] = existsSync(claim) ? readdirSync(claim) : [];
    if (owner !== undefined && !existsSync(`/proc/${owner}`)) rmSync(claim, { recursive: true, force: true });
    return false;
  }
}

/** The sources that determine the bytes of the image. */
const SOURCES = [
  ...['base-image', 'base-tree', 'debian-packages', 'python-bytecode'].map(
    (name) => `build/container/${name}`,
  ),
  ...['file-tree', 'layers', 'oci', 'tar-header', 'tar-writer', 'store', 'unpack'].map(
    (name) => `cell/images/${name}`,
  ),
];

function sourcesDigest(): string {
  const hash = createHash('sha256');
  for (const name of SOURCES) {
    hash.update(readFileSync(fileURLToPath(new URL(`../../../src/${name}.ts`, import.meta.url))));
  }
  return hash.digest('hex').slice(0, 16);
}
