/**
 * Brings an image of an engine or a registry into our store. Registries are left to the engines: they know how to sign in, and
 * check what they fetch.
 *
 * @module
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatImageReference, parseImageReference } from '../../../manifest/container.ts';
import { readArchive } from './archive.ts';
import type { ImageEngine } from './engine.ts';
import { findEngines } from './find-engines.ts';
import { imageMissing, noEngine } from './problems.ts';
import type { LocalImages } from './store.ts';

/** Digest of the image that a reference means: as an engine has it now, as we have it, or else as its registry has it. */
export async function fetchImage(images: LocalImages, text: string): Promise<string> {
  const parsed = parseImageReference(text);
  const reference = parsed ? formatImageReference(parsed) : text;
  const engines = await findEngines();
  let holder = await firstWith(engines, reference);
  const own = holder ? undefined : await images.named(reference);
  if (own !== undefined) return own;
  holder ??= await pulled(engines, reference);
  const digest = await importFrom(images, holder, reference);
  await images.name(reference, digest);
  return digest;
}

/** Takes an image out of an engine. */
export async function importFrom(
  images: LocalImages,
  engine: ImageEngine,
  reference: string,
): Promise<string> {
  const scratch = await mkdtemp(join(tmpdir(), 'skillcell-image-'));
  try {
    const file = join(scratch, 'image.tar');
    await engine.save(reference, file);
    const { config, layers } = await readArchive(file, images.blobs, images.limits);
    return await images.add(config, layers);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function firstWith(
  engines: readonly ImageEngine[],
  reference: string,
): Promise<ImageEngine | undefined> {
  for (const engine of engines) if (await engine.has(reference)) return engine;
  return undefined;
}

async function pulled(engines: readonly ImageEngine[], reference: string): Promise<ImageEngine> {
  const [engine] = engines;
  if (!engine) throw noEngine(`The image "${reference}" is not here`);
  if (reference.startsWith('localhost/')) {
    throw imageMissing(
      reference,
      `Build it with ${engine.name}, or name another image. Our own is built with: skillcell build --base python`,
    );
  }
  await engine.pull(reference);
  return engine;
}
