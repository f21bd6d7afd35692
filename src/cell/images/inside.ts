/**
 * Finds files in an unpacked image from the host. Links are resolved with the image as the root, so none of them leads to
 * a file of the host.
 *
 * @module
 */
import { lstat, readFile, readlink } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { SkillError } from '../../errors.ts';
import { quote } from '../../manifest/quote.ts';
import type { ResolvedImage } from './contract.ts';

const MAX_HOPS = 40;
const MAX_TEXT_BYTES = 1024 * 1024;
const USUAL_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Host path of a path in the image, with all links resolved; undefined if it does not exist. */
export async function pathInside(rootfs: string, path: string): Promise<string | undefined> {
  let parts = partsOf(path);
  let done: string[] = [];
  for (let hops = 0; parts.length > 0;) {
    const [name = '', ...rest] = parts;
    parts = rest;
    if (name === '..') {
      done.pop();
      continue;
    }
    const place = join(rootfs, ...done, name);
    const stat = await lstat(place).catch(() => undefined);
    if (!stat) return undefined;
    if (!stat.isSymbolicLink()) {
      done.push(name);
      continue;
    }
    hops += 1;
    if (hops > MAX_HOPS) return undefined;
    const target = await readlink(place);
    if (target.startsWith('/')) done = [];
    parts = [...partsOf(target), ...parts];
  }
  return join(rootfs, ...done);
}

/** The text of a small file in the image. */
export async function readInside(rootfs: string, path: string): Promise<string | undefined> {
  const place = await pathInside(rootfs, path);
  const stat = place === undefined ? undefined : await lstat(place);
  if (place === undefined || !stat?.isFile() || stat.size > MAX_TEXT_BYTES) return undefined;
  return readFile(place, 'utf8');
}

/** The absolute path of a program in an image, by path or name. Throws if the image does not have it. */
export async function findProgram(image: ResolvedImage, program: string): Promise<string> {
  const rootfs = await image.rootfs();
  for (const candidate of candidates(image, program)) {
    const place = await pathInside(rootfs, candidate);
    const stat = place === undefined ? undefined : await lstat(place);
    if (stat?.isFile() && (stat.mode & 0o111) !== 0) return candidate;
  }
  throw new SkillError(
    'manifest_invalid',
    `The image ${quote(image.reference)} has no program ${quote(program)} to start the skill with`,
    {
      fix: 'Add it to the image (COPY in its Dockerfile), or set its ENTRYPOINT to a program in the image.',
      detail: { image: image.reference, digest: image.digest, program },
    },
  );
}

function candidates({ config }: ResolvedImage, program: string): string[] {
  if (program.includes('/')) return [posix.resolve('/', config.workdir, program)];
  const own = config.env.find((line) => line.startsWith('PATH='))?.slice('PATH='.length);
  const folders = (own ?? USUAL_PATH).split(':').filter((folder) => folder.startsWith('/'));
  return folders.map((folder) => posix.join(folder, program));
}

function partsOf(path: string): string[] {
  return path.split('/').filter((part) => part !== '' && part !== '.');
}
