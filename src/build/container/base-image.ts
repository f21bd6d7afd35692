/**
 * `skillcell build --base`: builds a minimal image for skills from Debian packages, without a registry. The same package
 * versions always produce the same digest.
 *
 * @module
 */
import { mkdtempSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { FileTree } from '../../cell/images/file-tree.ts';
import { writeLayer } from '../../cell/images/layers.ts';
import { ownArchitecture } from '../../cell/images/oci.ts';
import { createImageStore } from '../../cell/images/store.ts';
import { removeTree } from '../../load/remove-tree.ts';
import { SkillError } from '../../errors.ts';
import { defaultHome } from '../../load/home.ts';
import { baseTree } from './base-tree.ts';
import { downloadPackages, packageClosure, packageVersion, requireApt } from './debian-packages.ts';
import { addBytecode } from './python-bytecode.ts';

export const BASES = ['python'] as const;
export type Base = (typeof BASES)[number];

/** What Debian expects on every system, and what programs and shell scripts start. */
const ESSENTIAL = words('bash coreutils diffutils findutils grep gzip hostname mawk sed tar');
/** Includes a shell for `RUN`; a cell can still start only what its manifest declares. */
const ROOTS: readonly string[] = ['python3-minimal', 'libpython3-stdlib', 'busybox-static'];
const PACKAGE_NAME = /^[a-z0-9][a-z0-9+.-]{1,99}$/;
const IMAGE_NAME = /^[a-z0-9][a-z0-9-]{0,39}$/;
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Options of `buildBase`. */
export interface BaseOptions {
  home?: string;
  /** Debian packages to add, with all of their dependencies, for the scripts of a skill. */
  packages?: readonly string[] | undefined;
  /** The name of an image with added packages: `office` makes `localhost/skillcell-office`. */
  name?: string | undefined;
  onProgress?: ((text: string) => void) | undefined;
}

/** The result of `buildBase`. */
export interface BuiltBase {
  /** Such as `localhost/skillcell-python:3.11`; the tag `latest` refers to the same image. */
  reference: string;
  digest: string;
  bytes: number;
  /** The packages in it, as `name=version`. */
  packages: string[];
}

/** The name of a base image without its tag. */
export function baseName(base: Base): string {
  return `localhost/skillcell-${base}`;
}

function imageName(name: string): string {
  return `localhost/skillcell-${name}`;
}

/** An image with more in it must not take the name of the base image. */
function assertNamed({ packages = [], name }: BaseOptions): void {
  const odd = packages.find((one) => !PACKAGE_NAME.test(one));
  if (odd !== undefined)
    throw new SkillError('usage', `${JSON.stringify(odd)} is not the name of a Debian package`, {
      fix: 'Pass names such as poppler-utils.',
    });
  if (packages.length > 0 === (name !== undefined) && (name === undefined || isFree(name))) return;
  throw new SkillError('usage', 'An image with added packages needs a name of its own', {
    fix: 'Run for example `skillcell build --base python --with poppler-utils --name poppler`.',
    detail: { name },
  });
}

function isFree(name: string): boolean {
  return IMAGE_NAME.test(name) && !BASES.some((base) => base === name);
}

/** Builds a base image from Debian packages. */
export async function buildBase(base: string, options: BaseOptions = {}): Promise<BuiltBase> {
  const known = BASES.find((name) => name === base);
  if (known === undefined) {
    throw new SkillError('usage', `Unknown base image ${JSON.stringify(base)}`, {
      fix: `Use one of: ${BASES.join(', ')}.`,
    });
  }
  assertNamed(options);
  requireApt();
  const scratch = mkdtempSync(join(tmpdir(), 'skillcell-base-'));
  try {
    return await build(known, scratch, options);
  } finally {
    await removeTree(scratch);
  }
}

async function build(base: Base, scratch: string, options: BaseOptions): Promise<BuiltBase> {
  const { home = defaultHome(), onProgress = () => undefined } = options;
  const [folder, compiled] = [join(scratch, 'packages'), join(scratch, 'compiled')];
  await mkdir(folder);
  await mkdir(compiled);
  const added = options.packages ?? [];
  const names = [
    ...new Set([
      ...packageClosure(ROOTS),
      ...(added.length > 0 ? packageClosure([...ESSENTIAL, ...added], 'all') : []),
    ]),
  ].toSorted();
  onProgress(`Fetching ${names.length} Debian packages …`);
  const packages = downloadPackages(names, folder);
  const tree = await baseTree({ folder, packages });
  onProgress('Compiling the standard library of Python …');
  await addBytecode(tree, compiled);
  onProgress('Writing the image …');
  const name = options.name === undefined ? baseName(base) : imageName(options.name);
  return store(name, { tree, packages: packages.map(packageVersion) }, resolve(home));
}

async function store(
  name: string,
  content: { tree: FileTree; packages: string[] },
  home: string,
): Promise<BuiltBase> {
  const images = createImageStore({ home });
  const layer = await images.blobs.write(writeLayer(content.tree));
  const config = baseConfig(layer.digest, content.packages);
  const digest = await images.add(Buffer.from(JSON.stringify(config)), [layer]);
  const reference = `${name}:${pythonVersion(content.packages)}`;
  for (const tag of [reference, `${name}:latest`]) await images.name(tag, digest);
  return { reference, digest, bytes: layer.size, packages: content.packages };
}

function baseConfig(layer: string, packages: readonly string[]): Record<string, unknown> {
  return {
    created: '1970-01-01T00:00:00Z',
    architecture: ownArchitecture(),
    os: 'linux',
    config: {
      User: '65534:65534',
      Env: [`PATH=${PATH}`],
      Cmd: ['/usr/bin/python3'],
      WorkingDir: '/',
      Labels: { 'skillcell.packages': packages.join(' ') },
    },
    rootfs: { type: 'layers', diff_ids: [layer] },
    history: [{ created: '1970-01-01T00:00:00Z', created_by: 'skillcell build --base python' }],
  };
}

function words(text: string): string[] {
  return text.split(' ');
}

function pythonVersion(packages: readonly string[]): string {
  const versions = packages.map((name) => /^python(3\.\d+)-minimal=/.exec(name)?.[1]);
  return versions.find((version) => version !== undefined) ?? '3';
}
