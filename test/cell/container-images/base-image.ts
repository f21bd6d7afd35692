/**
 * The base image for tests, built once for all of them: whoever comes first builds, the others wait. It is kept between runs
 * under the digest of what makes it.
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
import { createImageStore } from '../../../src/cell/container/images/store.ts';

export interface SharedBase {
  /** A Skillcell home that holds the image and nothing else. Read it, or copy it with `seedImages`. */
  home: string;
  reference: string;
  digest: string;
}

const PATIENCE_MS = 180_000;

export async function sharedBaseImage(): Promise<SharedBase> {
  const home = join(tmpdir(), `skillcell-base-${process.getuid?.() ?? 0}-${sourcesDigest()}`);
  const [note, claim] = [join(home, 'ready.json'), `${home}.claim`];
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await sleep(100)) {
    if (existsSync(note)) return JSON.parse(readFileSync(note, 'utf8')) as SharedBase;
    if (!takes(claim)) continue;
    try {
      return await build(home, note);
    } finally {
      rmSync(claim, { recursive: true, force: true });
    }
  }
  throw new Error(`Nobody built the base image in ${home}`);
}

/** Gives a home of a test the shared image, unpacked, at the price of some hard links. */
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
  // In one step: who sees the note reads it at once.
  writeFileSync(`${note}.new`, JSON.stringify(base));
  renameSync(`${note}.new`, note);
  return base;
}

/** True for the one who may build. A claim whose owner is gone is void. */
function takes(claim: string): boolean {
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

/** What the bytes of the image depend on. */
const MAKERS = [
  ...['base-image', 'base-tree', 'debian-packages', 'python-bytecode'].map(
    (name) => `build/container/${name}`,
  ),
  ...['file-tree', 'layers', 'oci', 'tar-header', 'tar-writer', 'store', 'unpack'].map(
    (name) => `cell/container/images/${name}`,
  ),
];

function sourcesDigest(): string {
  const hash = createHash('sha256');
  for (const name of MAKERS) {
    hash.update(readFileSync(fileURLToPath(new URL(`../../../src/${name}.ts`, import.meta.url))));
  }
  return hash.digest('hex').slice(0, 16);
}
