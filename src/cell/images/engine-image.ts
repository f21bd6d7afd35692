/**
 * Turns the declaration of a bundle into an image that a cell can start from, checked as far as possible before it runs.
 *
 * @module
 */
import { SkillError } from '../../errors.ts';
import type { Bundle } from '../../load/bundle.ts';
import { setIn } from '../../manifest/edit-sentences.ts';
import { shellWord } from '../../manifest/quote.ts';
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

/** What to do about a bundle that `refusesImage` refuses; undefined if it names an image. */
export function fixForNoImage(bundle: Bundle): string | undefined {
  if (refusesImage(bundle) === undefined) return undefined;
  const { sourceDir, entry, kind } = bundle;
  if (kind === 'script') return FIX_FOR_SCRIPTS;
  const dir = shellWord(sourceDir);
  const key = setIn('container', `${sourceDir}/manifest.yaml`, '{ dockerfile: Dockerfile }');
  if (!entry.endsWith('.py')) return `${key} Then add the Dockerfile and run \`skillcell build ${dir}\`.`;
  const base = setIn(
    'container',
    `${sourceDir}/manifest.yaml`,
    '{ image: "localhost/skillcell-python:latest" }',
  );
  return `${base} Then run \`skillcell build --base python\` and \`skillcell build ${dir}\`.`;
}

const FIX_FOR_SCRIPTS =
  'Build an image with the programs that its scripts need: skillcell build --base python --with PACKAGE --name NAME. Then name it in the overlay of the skill: container: { image: "localhost/skillcell-NAME:latest" }.';

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
