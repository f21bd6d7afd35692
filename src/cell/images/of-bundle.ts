/**
 * The image of a bundle outside of calls, for pinning in a lock and for installation.
 *
 * @module
 */
import { SkillError } from '../../errors.ts';
import type { Bundle } from '../../load/bundle.ts';
import { fetchImage } from './fetch.ts';
import { declaredDigest } from './resolve.ts';
import type { LocalImages } from './store.ts';

/** Digest of the image that a new lock pins; undefined if there is none. */
export async function imageToPin(images: LocalImages, bundle: Bundle): Promise<string | undefined> {
  const isBuiltByOthers = bundle.origin === 'bundled' && bundle.manifest.container?.dockerfile !== undefined;
  // Images of bundled skills are built on each machine from its own Debian packages, so their digests differ.
  return isBuiltByOthers ? undefined : imageHere(images, bundle);
}

/** Digest of the image that a manifest refers to on this machine. */
export async function imageHere(images: LocalImages, bundle: Bundle): Promise<string | undefined> {
  const { container } = bundle.manifest;
  return container ? declaredDigest(images, container, bundle) : undefined;
}

/** Fetches the image of a manifest unless it is installed. Returns the problem if another mode does not need the image. */
export async function installImage(images: LocalImages, bundle: Bundle): Promise<string | undefined> {
  const { container, execution } = bundle.manifest;
  if (container === undefined || (await imageHere(images, bundle)) !== undefined) return undefined;
  try {
    if (container.image === undefined) throw notBuilt(bundle);
    await fetchImage(images, container.image);
    return undefined;
  } catch (error) {
    const isNeeded = execution.length > 0 && execution.every((mode) => mode === 'container');
    if (!(error instanceof SkillError) || (isNeeded && container.image !== undefined)) throw error;
    return `${error.message}. ${error.fix}`;
  }
}

function notBuilt({ manifest }: Bundle): SkillError {
  return new SkillError('skill_unavailable', 'Its container image has not been built yet', {
    fix: `Build it: skillcell build ${manifest.name}`,
  });
}
