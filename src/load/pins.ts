/**
 * What a call takes from this machine that is no file of the bundle: its container image and its installed packages. People
 * approve these too, down to their digests, and a receipt names them.
 *
 * @module
 */
import type { Bundle } from './bundle.ts';

/** Engines that have packages of their own; each may resolve the same requirements to other files. */
export const PACKAGE_ENGINES = ['python', 'python-wasm'] as const;
export type PackageEngine = (typeof PACKAGE_ENGINES)[number];

/** A wheel that was installed. */
export interface PinnedPackage {
  name: string;
  version: string;
  /** Of the wheel, in hex. */
  sha256: string;
}

/** What the requirements of a bundle were resolved to. */
export interface PinnedPackages {
  /** Over the list. */
  digest: string;
  /** Sorted by name. */
  packages: PinnedPackage[];
}

export interface Pins {
  /** The image that the manifest leads to on this machine. */
  image?: string;
  packages?: Partial<Record<PackageEngine, PinnedPackages>>;
}

type Pinned = Pick<Bundle, 'image' | 'pins'>;

/** One line for the image and for each wheel, as approvals have them. */
export function pinLines(bundle: Pinned): string[] {
  const image = imageOf(bundle);
  const wheels = PACKAGE_ENGINES.flatMap((engine) =>
    (bundle.pins?.packages?.[engine]?.packages ?? []).map(
      ({ name, version, sha256 }) => `package ${engine} ${name} ${version} sha256:${sha256}`,
    ),
  );
  return [...(image === undefined ? [] : [`container digest ${image}`]), ...wheels];
}

/** What the lock pins goes first: a call with another image ends in drift. */
export function imageOf({ image, pins }: Pinned): string | undefined {
  return image ?? pins?.image;
}
