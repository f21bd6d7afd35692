/**
 * From the declaration of a bundle to an image that a cell can be made from, checked as far as that goes before it runs.
 *
 * @module
 */
import { SkillError } from '../../../errors.ts';
import type { Bundle } from '../../../load/bundle.ts';
import type { CellImage } from '../../contract.ts';
import type { ImageStore, ResolvedImage } from '../images/contract.ts';
import { imageUser } from '../images/user.ts';

const ARCHITECTURES: Partial<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };
/** Where a cell has room of its own, whatever the image says. */
const OWN_VARIABLES = { HOME: '/tmp', TMPDIR: '/tmp' };

export interface PreparedImage {
  resolved: ResolvedImage;
  image: CellImage;
  /** The variables that the image sets. */
  env: Record<string, string>;
}

export async function prepareImage(images: ImageStore, bundle: Bundle): Promise<PreparedImage> {
  const rule = bundle.manifest.container ?? {};
  const resolved = await images.resolve(rule, bundle);
  assertRunsHere(resolved);
  return {
    resolved,
    image: {
      id: resolved.id,
      rootfs: await resolved.rootfs(),
      archive: () => resolved.archive(),
      user: await imageUser(resolved, rule),
    },
    env: { ...variables(resolved.config.env), ...OWN_VARIABLES },
  };
}

/** Undefined when a bundle says nothing of containers; else why this engine cannot run it, if it cannot. */
export function refusesImage({ manifest }: Bundle): string | undefined {
  const { image, dockerfile } = manifest.container ?? {};
  return image === undefined && dockerfile === undefined
    ? 'its manifest names no image: container: { image } or { dockerfile }'
    : undefined;
}

function assertRunsHere({ config, reference }: ResolvedImage): void {
  const here = ARCHITECTURES[process.arch] ?? process.arch;
  if (config.architecture === here && config.os === 'linux') return;
  throw new SkillError(
    'skill_unavailable',
    `The image "${reference}" is for ${config.os}/${config.architecture}, and this machine is linux/${here}`,
    {
      fix: `Build or fetch the image for linux/${here}.`,
      detail: { architecture: config.architecture, here },
    },
  );
}

function variables(lines: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );
}
