/**
 * Which image a declaration means here, and whether it still is the one that was locked. Looks into our own store alone: what
 * runs was fetched or built before, by a command that says so.
 *
 * @module
 */
import { SkillError } from '../../../errors.ts';
import { formatImageReference, parseImageReference } from '../../../manifest/container.ts';
import type { ContainerRule } from '../../../manifest/manifest.ts';
import { quote, shellWord } from '../../../manifest/quote.ts';
import type { ImageOwner, ResolvedImage } from './contract.ts';
import { ownArchitecture } from './oci.ts';
import { imageMissing } from './problems.ts';
import type { LocalImages, StoredImage } from './store.ts';

export async function resolveImage(
  images: LocalImages,
  rule: ContainerRule,
  bundle: ImageOwner,
): Promise<ResolvedImage> {
  const reference = referenceOf(rule, bundle);
  // What was looked up when the call was admitted is what it gets, also if the name was moved since.
  const found = bundle.pins ? bundle.pins.image : await declaredDigest(images, rule, bundle);
  if (found !== undefined && bundle.image !== undefined && found !== bundle.image)
    throw moved(reference, { locked: bundle.image, found });
  const digest = found ?? bundle.image;
  const image = digest === undefined ? undefined : await images.find(digest);
  if (!image) throw imageMissing(reference, howToGet(bundle), bundle.image);
  assertRunsHere(image, reference);
  return images.describe(image, reference);
}

/** By its id where that leads to it, else by its folder. */
function howToGet({ origin, manifest, sourceDir }: ImageOwner): string {
  const hasId = origin === 'bundled' || origin === 'installed';
  return `Get it with: skillcell build ${hasId ? manifest.name : shellWord(sourceDir)}`;
}

/** What people are told that it is. */
function referenceOf(rule: ContainerRule, { manifest }: ImageOwner): string {
  const reference = rule.image === undefined ? undefined : parseImageReference(rule.image);
  return reference
    ? formatImageReference(reference)
    : `${rule.dockerfile ?? 'Dockerfile'} of ${manifest.name}`;
}

/** The digest that the declaration leads to here; undefined when it leads nowhere. */
export async function declaredDigest(
  images: LocalImages,
  rule: ContainerRule,
  bundle: Pick<ImageOwner, 'digest'>,
): Promise<string | undefined> {
  if (rule.image === undefined) return images.builtFrom(bundle.digest);
  const reference = parseImageReference(rule.image);
  if (!reference) return undefined;
  const named = await images.named(formatImageReference(reference));
  if (named !== undefined || reference.digest === undefined) return named;
  // A digest of ours needs no name: it is what the store is sorted by.
  return (await images.find(reference.digest)) ? reference.digest : undefined;
}

function moved(reference: string, digests: { locked: string; found: string }): SkillError {
  const { locked, found } = digests;
  return new SkillError(
    'manifest_drift',
    `The image ${quote(reference)} is another one than was locked: skill.lock has ${locked}, here it is ${found}.`,
    {
      fix: 'Get the locked image back, or look at the new one and accept it with `skillcell lock`.',
      detail: { image: reference, locked, found },
    },
  );
}

function assertRunsHere({ document }: StoredImage, reference: string): void {
  const own = ownArchitecture();
  const { os, architecture } = document;
  if (os === 'linux' && architecture === own) return;
  throw new SkillError(
    'skill_unavailable',
    `The image ${quote(reference)} is for ${quote(`${os}/${architecture}`)}, and this machine is linux/${own}`,
    { fix: `Get it for linux/${own}, or run the skill on another machine.`, detail: { os, architecture } },
  );
}
