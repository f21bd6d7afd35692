/**
 * The parts of a call that are not in the bundle: its container image and its installed packages. People approve these
 * too, by digest, and receipts name them.
 *
 * @module
 */
import type { Bundle } from './bundle.ts';

/** Engines with their own packages; each may resolve the same requirements to different files. */
export const PACKAGE_ENGINES = ['python', 'python-wasm', 'node'] as const;
export type PackageEngine = (typeof PACKAGE_ENGINES)[number];

/** An installed wheel or npm package. */
export interface PinnedPackage {
  name: string;
  version: string;
  /** Digest of its archive, in hex. */
  sha256: string;
}

/** The packages that a bundle's requirements resolved to. */
export interface PinnedPackages {
  /** Digest of the list. */
  digest: string;
  /** Sorted by name. */
  packages: PinnedPackage[];
}

export interface Pins {
  /** The image that the manifest resolves to on this machine. */
  image?: string;
  packages?: Partial<Record<PackageEngine, PinnedPackages>>;
}

type Pinned = Pick<Bundle, 'image' | 'pins'>;

/** One line for the image and one for each wheel, in the form that approvals use. */
export function pinLines(bundle: Pinned): string[] {
  const image = imageOf(bundle);
  const wheels = PACKAGE_ENGINES.flatMap((engine) =>
    (bundle.pins?.packages?.[engine]?.packages ?? []).map(
      ({ name, version, sha256 }) => `package ${engine} ${name} ${version} sha256:${sha256}`,
    ),
  );
  return [...(image === undefined ? [] : [`container digest ${image}`]), ...wheels];
}

/** The locked image takes precedence: a call with any other image fails as drift. */
export function imageOf({ image, pins }: Pinned): string | undefined {
  return image ?? pins?.image;
}
