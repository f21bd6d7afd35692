/**
 * Builds an image from a Dockerfile into our store: directly if it runs nothing, otherwise with a container engine.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { engineName } from '../../cell/images/archive.ts';
import type { ImageEngine } from '../../cell/images/engine.ts';
import { fetchImage, importFrom } from '../../cell/images/fetch.ts';
import { FileTree } from '../../cell/images/file-tree.ts';
import { findEngines } from '../../cell/images/find-engines.ts';
import { imageMissing, noEngine } from '../../cell/images/problems.ts';
import type { LocalImages, StoredImage } from '../../cell/images/store.ts';
import { SkillError } from '../../errors.ts';
import { formatImageReference, imageProblem, parseImageReference } from '../../manifest/container.ts';
import { baseName, BASES, buildBase } from './base-image.ts';
import { plainFile } from './base-tree.ts';
import { parseDockerfile, type Dockerfile } from './dockerfile.ts';
import { buildOurselves } from './own-builder.ts';

export interface ImageSources {
  home: string;
  images: LocalImages;
  onProgress: (text: string) => void;
}

export interface ImageJob extends ImageSources {
  /** Path of the Dockerfile in the bundle. */
  dockerfile: string;
  /** Files of the bundle by path. */
  contents: ReadonlyMap<string, Buffer>;
  /** Whether `RUN` instructions may use the network. */
  network: boolean;
}

/** Returns the digest of the image. */
export async function makeImage(job: ImageJob): Promise<string> {
  const dockerfile = parseDockerfile(job.contents.get(job.dockerfile)?.toString('utf8') ?? '');
  if (dockerfile.needsEngine !== undefined) return buildWithEngine(job, dockerfile);
  const [from, ...instructions] = dockerfile.instructions;
  if (!from) throw missingBase();
  const base = await baseOf(job, from.rest);
  return buildOurselves(job.images, { base, instructions, context: contextTree(job.contents) });
}

function contextTree(contents: ReadonlyMap<string, Buffer>): FileTree {
  const tree = new FileTree();
  for (const [path, bytes] of contents) tree.put(Buffer.from(path).toString('latin1'), plainFile(bytes));
  return tree;
}

async function baseOf(job: ImageSources, from: string): Promise<StoredImage> {
  const problem = imageProblem(from);
  if (problem !== undefined) throw badBase(problem);
  return obtainImage(job, from);
}

/** Returns the image behind a reference: builds our base image if it is missing, and fetches others. */
export async function obtainImage(job: ImageSources, text: string): Promise<StoredImage> {
  const parsed = parseImageReference(text) ?? { name: text };
  const reference = formatImageReference(parsed);
  const own = BASES.find((base) => baseName(base) === parsed.name);
  let digest = await job.images.digestFor(reference);
  if (digest === undefined && own !== undefined) {
    job.onProgress(`Building the base image ${baseName(own)}; this is done once …`);
    await buildBase(own, job);
    digest = await job.images.digestFor(reference);
  } else if (own === undefined) digest = await fetchImage(job.images, text);
  const image = await job.images.find(digest ?? parsed.digest ?? '');
  if (image) return image;
  throw imageMissing(reference, 'Use an existing base image, such as "localhost/skillcell-python".');
}

async function buildWithEngine(job: ImageJob, { needsEngine, instructions }: Dockerfile): Promise<string> {
  const [engine] = await findEngines();
  if (!engine) throw noEngine(`The Dockerfile cannot be built here: ${needsEngine} needs a container engine`);
  for (const { name, rest } of instructions) if (name === 'FROM') await loadBase(job, engine, rest);
  const scratch = await mkdtemp(join(tmpdir(), 'skillcell-build-'));
  const tag = `localhost/skillcell-build:${randomBytes(8).toString('hex')}`;
  try {
    const folder = join(scratch, 'context');
    await writeContext(folder, job.contents);
    job.onProgress(`Building with ${engine.name}${job.network ? '' : ', without network'} …`);
    await engine.build({ context: folder, dockerfile: job.dockerfile, tag, network: job.network });
    return await importFrom(job.images, engine, tag);
  } finally {
    await engine.remove(tag).catch(() => undefined);
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Sets fixed modes, because a bundle has none, so that the image does not depend on the umask. */
async function writeContext(folder: string, contents: ReadonlyMap<string, Buffer>): Promise<void> {
  for (const [path, bytes] of contents) {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, bytes);
    await chmod(file, 0o644);
  }
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory()) await chmod(join(entry.parentPath, entry.name), 0o755);
  }
}

/** Loads our base image into the engine under the name that the Dockerfile uses. */
async function loadBase(job: ImageJob, engine: ImageEngine, rest: string): Promise<void> {
  const from = rest.split(/\s+/).find((word) => !word.startsWith('--')) ?? '';
  const parsed = parseImageReference(from);
  if (!parsed || !BASES.some((base) => baseName(base) === parsed.name)) return;
  const image = await baseOf(job, from);
  const described = job.images.describe(image, from);
  await engine.load(await described.archive());
  await engine.tag(engineName(image.digest), formatImageReference(parsed));
}

function missingBase(): SkillError {
  return new SkillError('manifest_invalid', 'The Dockerfile is invalid: it has no FROM', {
    fix: 'Start it with an image, such as "FROM localhost/skillcell-python".',
  });
}

function badBase(problem: string): SkillError {
  return new SkillError('manifest_invalid', `The Dockerfile is invalid: FROM ${problem}`, {
    fix: 'Use the full name of an image, such as "FROM localhost/skillcell-python".',
  });
}
