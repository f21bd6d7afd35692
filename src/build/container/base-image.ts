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

/** Includes a shell for `RUN`; a cell can still start only what its manifest declares. */
const ROOTS: readonly string[] = ['python3-minimal', 'libpython3-stdlib', 'busybox-static'];
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Options of `buildBase`. */
export interface BaseOptions {
  home?: string;
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

/** Builds a base image from Debian packages. */
export async function buildBase(base: string, options: BaseOptions = {}): Promise<BuiltBase> {
  const known = BASES.find((name) => name === base);
  if (known === undefined) {
    throw new SkillError('usage', `Unknown base image ${JSON.stringify(base)}`, {
      fix: `Use one of: ${BASES.join(', ')}.`,
    });
  }
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
  const names = packageClosure(ROOTS);
  onProgress(`Fetching ${names.length} Debian packages …`);
  const packages = downloadPackages(names, folder);
  const tree = await baseTree({ folder, packages });
  onProgress('Compiling the standard library of Python …');
  await addBytecode(tree, compiled);
  onProgress('Writing the image …');
  return store(base, { tree, packages: packages.map(packageVersion) }, resolve(home));
}

async function store(
  base: Base,
  content: { tree: FileTree; packages: string[] },
  home: string,
): Promise<BuiltBase> {
  const images = createImageStore({ home });
  const layer = await images.blobs.write(writeLayer(content.tree));
  const config = baseConfig(layer.digest, content.packages);
  const digest = await images.add(Buffer.from(JSON.stringify(config)), [layer]);
  const reference = `${baseName(base)}:${pythonVersion(content.packages)}`;
  for (const name of [reference, `${baseName(base)}:latest`]) await images.name(name, digest);
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

function pythonVersion(packages: readonly string[]): string {
  const versions = packages.map((name) => /^python(3\.\d+)-minimal=/.exec(name)?.[1]);
  return versions.find((version) => version !== undefined) ?? '3';
}
