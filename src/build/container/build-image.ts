/**
 * `skillcell build` for a skill with a container: builds its Dockerfile or fetches the image it names, and pins the digest in
 * the lock. The Dockerfile is the author's own and trusted; running a skill never builds an image.
 *
 * @module
 */
import { join, resolve } from 'node:path';
import type { ResolvedImage } from '../../cell/images/contract.ts';
import { findProgram } from '../../cell/images/inside.ts';
import { imageMissing } from '../../cell/images/problems.ts';
import { createImageStore, type StoredImage } from '../../cell/images/store.ts';
import { SkillError } from '../../errors.ts';
import { readDescription } from '../../load/bundle-texts.ts';
import { capabilitySet } from '../../load/capability-set.ts';
import { findEntry, refuseIgnoredEntry, requireDockerfile } from '../../load/entry.ts';
import { defaultHome } from '../../load/home.ts';
import { compareLock, parseLock } from '../../load/lock.ts';
import type { BundleLocation } from '../../load/load-bundle.ts';
import { readBundle, type BundleFiles } from '../../load/read-bundle.ts';
import type { ContainerRule, Manifest } from '../../manifest/manifest.ts';
import { packageRoot } from '../../package-root.ts';
import { createRuntime } from '../../runtime.ts';
import { locateSkill } from '../../trust/origin.ts';
import { makeImage, obtainImage, type ImageSources } from './make-image.ts';

/** Options of `buildImage`. */
export interface ImageOptions {
  home?: string;
  /** The project folder, to find its skills. */
  cwd?: string;
  onProgress?: ((text: string) => void) | undefined;
}

/** The result of `buildImage`. */
export interface BuiltImage {
  /** The reference of the image, or the path of the Dockerfile. */
  reference: string;
  digest: string;
  /**
   * Whether `skill.lock` now pins the image. `kept`: the skill is bundled or installed, so its lock is not changed. `stale`:
   * the lock no longer matches the bundle and must be reviewed first.
   */
  lock: 'written' | 'kept' | 'stale';
}

/** Builds or fetches the image of a skill; undefined if its manifest declares no container. */
export async function buildImage(ref: string, options: ImageOptions = {}): Promise<BuiltImage | undefined> {
  const { onProgress = () => undefined } = options;
  const cwd = resolve(options.cwd ?? process.cwd());
  const home = resolve(options.home ?? defaultHome());
  const location = locateSkill(ref, { bundledDir: join(packageRoot(), 'skills'), home, cwd });
  const source = readBundle(location.dir);
  const { manifest } = readDescription(source.contents, location.dir);
  if (manifest.container === undefined) return undefined;
  refuseIgnoredEntry(manifest, source);
  requireDockerfile(manifest, source.files);
  // Creates the home folder with the permissions that cells need.
  await using runtime = createRuntime({ home, cwd, audit: false });
  const images = createImageStore({ home, onProgress });
  const { image, reference } = await obtain(manifest.container, source, { home, images, onProgress });
  await assertStarts(images.describe(image, reference), findEntry(manifest, source.files));
  const lock = lockState(location, source, manifest);
  if (lock === 'written') await runtime.lock(ref);
  return { reference, digest: image.digest, lock };
}

async function obtain(
  rule: ContainerRule,
  source: BundleFiles,
  from: ImageSources,
): Promise<{ image: StoredImage; reference: string }> {
  const { images } = from;
  if (rule.image !== undefined) return { image: await obtainImage(from, rule.image), reference: rule.image };
  const { dockerfile = 'Dockerfile', buildNetwork: network = false } = rule;
  const digest = await makeImage({ ...from, dockerfile, contents: source.contents, network });
  await images.recordBuild(source.digest, digest);
  const image = await images.find(digest);
  if (image) return { image, reference: dockerfile };
  throw imageMissing(
    digest,
    'Make sure that nothing removes images from the store during the build, and try again.',
  );
}

/** Unpacks the image, which detects a corrupt one, and checks that it contains the program that starts the skill. */
async function assertStarts(image: ResolvedImage, entry: string): Promise<void> {
  await image.rootfs();
  const { entrypoint, cmd } = image.config;
  const program = entry.endsWith('.py') ? 'python3' : (entrypoint[0] ?? cmd[0]);
  if (program !== undefined) await findProgram(image, program);
}

function lockState({ origin }: BundleLocation, source: BundleFiles, manifest: Manifest): BuiltImage['lock'] {
  if (origin === 'bundled' || origin === 'installed') return 'kept';
  if (source.lock === undefined) return 'written';
  try {
    compareLock(parseLock(source.lock.toString('utf8')), source.files, capabilitySet(manifest));
    return 'written';
  } catch (error) {
    if (error instanceof SkillError) return 'stale';
    throw error;
  }
}
