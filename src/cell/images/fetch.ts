/**
 * Imports an image from an engine or a registry into our store. Only engines talk to registries: they can sign in and
 * verify what they fetch.
 *
 * @module
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatImageReference, parseImageReference } from '../../manifest/container.ts';
import { readArchive } from './archive.ts';
import type { ImageEngine } from './engine.ts';
import { findEngines } from './find-engines.ts';
import { imageMissing, noEngine } from './problems.ts';
import type { LocalImages } from './store.ts';

/** Digest of the image of a reference: from an engine if one has it, otherwise from our store, otherwise from its registry. */
export async function fetchImage(images: LocalImages, text: string): Promise<string> {
  const parsed = parseImageReference(text);
  const reference = parsed ? formatImageReference(parsed) : text;
  const engines = await findEngines();
  let holder = await firstWith(engines, reference);
  const own = holder ? undefined : await images.digestFor(reference);
  if (own !== undefined) return own;
  holder ??= await pullFromFirst(engines, reference);
  const digest = await importFrom(images, holder, reference);
  await images.name(reference, digest);
  return digest;
}

/** Copies an image from an engine into our store. */
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

async function pullFromFirst(engines: readonly ImageEngine[], reference: string): Promise<ImageEngine> {
  const [engine] = engines;
  if (!engine) throw noEngine(`The image "${reference}" is not on this machine`);
  if (reference.startsWith('localhost/')) {
    throw imageMissing(
      reference,
      `Build it with ${engine.name}, or use another image. To build Skillcell's own image: skillcell build --base python`,
    );
  }
  await engine.pull(reference);
  return engine;
}
