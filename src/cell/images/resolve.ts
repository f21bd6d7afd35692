/**
 * Resolves a declaration to an image, and checks that it is still the locked one. Only looks in our own store: images are
 * fetched and built by other commands, never by a call.
 *
 * @module
 */
import { SkillError } from '../../errors.ts';
import { formatImageReference, parseImageReference } from '../../manifest/container.ts';
import type { ContainerRule } from '../../manifest/manifest.ts';
import { quote, shellWord } from '../../manifest/quote.ts';
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
  // The call gets the image that was looked up at admission, even if the name has moved since.
  const found = bundle.pins ? bundle.pins.image : await declaredDigest(images, rule, bundle);
  if (found !== undefined && bundle.image !== undefined && found !== bundle.image)
    throw imageMoved(reference, { locked: bundle.image, found });
  const digest = found ?? bundle.image;
  const image = digest === undefined ? undefined : await images.find(digest);
  if (!image) throw imageMissing(reference, howToGet(rule, bundle), bundle.image);
  assertRunsHere(image, reference);
  return images.describe(image, reference);
}

/** The image of `build --base python`, with any tag. */
const BASE_IMAGE = /^localhost\/skillcell-python(?::[^@]*)?$/;

/** The command that builds the image: a base by its name, others by the skill's name or its folder. */
function howToGet(rule: ContainerRule, { origin, manifest, sourceDir }: ImageOwner): string {
  if (rule.image !== undefined && BASE_IMAGE.test(rule.image))
    return 'Get it with: skillcell build --base python';
  const hasId = origin === 'bundled' || origin === 'installed';
  return `Get it with: skillcell build ${hasId ? manifest.name : shellWord(sourceDir)}`;
}

/** The name of the image in messages. */
function referenceOf(rule: ContainerRule, { manifest }: ImageOwner): string {
  const reference = rule.image === undefined ? undefined : parseImageReference(rule.image);
  return reference
    ? formatImageReference(reference)
    : `${rule.dockerfile ?? 'Dockerfile'} of ${manifest.name}`;
}

/** The digest that a declaration refers to on this machine; undefined if there is none. */
export async function declaredDigest(
  images: LocalImages,
  rule: ContainerRule,
  bundle: Pick<ImageOwner, 'digest'>,
): Promise<string | undefined> {
  if (rule.image === undefined) return images.builtFrom(bundle.digest);
  const reference = parseImageReference(rule.image);
  if (!reference) return undefined;
  const named = await images.digestFor(formatImageReference(reference));
  if (named !== undefined || reference.digest === undefined) return named;
  // The store is indexed by digest, so a digest needs no name.
  return (await images.find(reference.digest)) ? reference.digest : undefined;
}

function imageMoved(reference: string, digests: { locked: string; found: string }): SkillError {
  const { locked, found } = digests;
  return new SkillError(
    'manifest_drift',
    `The image ${quote(reference)} differs from the locked one: skill.lock has ${locked}, this machine has ${found}.`,
    {
      fix: 'Restore the locked image, or review the new one and accept it with `skillcell lock`.',
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
    `The image ${quote(reference)} is for ${quote(`${os}/${architecture}`)}, but this machine is linux/${own}`,
    { fix: `Get it for linux/${own}, or run the skill on another machine.`, detail: { os, architecture } },
  );
}
