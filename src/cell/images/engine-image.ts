/**
 * Turns the declaration of a bundle into an image that a cell can start from, checked as far as possible before it runs.
 *
 * @module
 */
import { SkillError } from '../../errors.ts';
import type { Bundle } from '../../load/bundle.ts';
import type { CellImage } from '../contract.ts';
import type { ImageStore, ResolvedImage } from './contract.ts';
import { imageUser } from './user.ts';

const ARCHITECTURES: Partial<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };
/** The cell's writable folder, which overrides the image's variables. */
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

/** Why a bundle cannot run in a container: its manifest names no image. Undefined if it can. */
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
    `The image "${reference}" is for ${config.os}/${config.architecture}, but this machine is linux/${here}`,
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
