/**
 * `skillcell build --base`: a minimal image to run skills in, from Debian packages, where no registry can be reached. The same
 * versions of packages always give the same digest.
 *
 * @module
 */
import { mkdtempSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { FileTree } from '../../cell/container/images/file-tree.ts';
import { writeLayer } from '../../cell/container/images/layers.ts';
import { ownArchitecture } from '../../cell/container/images/oci.ts';
import { createImageStore } from '../../cell/container/images/store.ts';
import { removeUnpacked } from '../../cell/container/images/unpack.ts';
import { SkillError } from '../../errors.ts';
import { defaultHome } from '../../load/home.ts';
import { baseTree } from './base-tree.ts';
import { demandApt, downloadPackages, packageClosure, packageVersion } from './debian-packages.ts';
import { addBytecode } from './python-bytecode.ts';

export const BASES = ['python'] as const;
export type Base = (typeof BASES)[number];

/** A shell is in it for `RUN`; a cell may start nothing that its manifest does not declare. */
const ROOTS: readonly string[] = ['python3-minimal', 'libpython3-stdlib', 'busybox-static'];
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

export interface BaseOptions {
  home?: string;
  onProgress?: ((text: string) => void) | undefined;
}

export interface BuiltBase {
  /** `localhost/skillcell-python:3.11`; the tag `latest` means it as well. */
  reference: string;
  digest: string;
  bytes: number;
  /** `name=version` of what it is made of. */
  packages: string[];
}

/** What a base is called without its tag. */
export function baseName(base: Base): string {
  return `localhost/skillcell-${base}`;
}

export async function buildBase(base: string, options: BaseOptions = {}): Promise<BuiltBase> {
  const known = BASES.find((name) => name === base);
  if (known === undefined) {
    throw new SkillError('usage', `There is no base image ${JSON.stringify(base)}`, {
      fix: `Use one of: ${BASES.join(', ')}.`,
    });
  }
  demandApt();
  const scratch = mkdtempSync(join(tmpdir(), 'skillcell-base-'));
  try {
    return await build(known, scratch, options);
  } finally {
    await removeUnpacked(scratch);
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
  made: { tree: FileTree; packages: string[] },
  home: string,
): Promise<BuiltBase> {
  const images = createImageStore({ home });
  const layer = await images.blobs.write(writeLayer(made.tree));
  const config = baseConfig(layer.digest, made.packages);
  const digest = await images.add(Buffer.from(JSON.stringify(config)), [layer]);
  const reference = `${baseName(base)}:${pythonVersion(made.packages)}`;
  for (const name of [reference, `${baseName(base)}:latest`]) await images.name(name, digest);
  return { reference, digest, bytes: layer.size, packages: made.packages };
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
