import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, it } from 'vitest';
import { findProgram, pathInside, readInside } from '../../../src/cell/images/inside.ts';
import { hexOf } from '../../../src/cell/images/oci.ts';
import { createImageStore, type LocalImages } from '../../../src/cell/images/store.ts';
import { imageUser } from '../../../src/cell/images/user.ts';
import type { ResolvedImage } from '../../../src/cell/images/contract.ts';
import { manifestWith } from '../../load/helpers.ts';
import { addImage, failureOf, tempFolder, type Entry } from './helpers.ts';

const BUNDLE = {
  digest: `sha256:${'b'.repeat(64)}`,
  manifest: manifestWith({ name: 'test/skill' }),
  origin: 'installed' as const,
  sourceDir: '/my skills/skill',
};
const PASSWD =
  'root:x:0:0::/:/bin/sh\ntoor:x:0:0::/:/bin/sh\napp:x:1000:1001::/:/bin/sh\nwheel:x:5:0::/:/bin/sh\n';
const PROGRAM: Entry[] = [
  { name: 'usr/bin/tool', mode: 0o755, text: '#!' },
  { name: 'usr/bin/data', mode: 0o644, text: '-' },
  { name: 'bin', type: '2', linkName: 'usr/bin' },
  { name: 'escape', type: '2', linkName: '/../../etc/hostname' },
  { name: 'loop', type: '2', linkName: 'loop' },
  { name: 'etc/passwd', text: PASSWD },
  { name: 'etc/group', text: 'users:x:100:\nroot:x:0:\n' },
];

let images: LocalImages;
beforeEach(() => {
  images = createImageStore({ home: tempFolder() });
});

async function addNamed(
  reference: string,
  entries: readonly Entry[] = PROGRAM,
  config = {},
): Promise<string> {
  const digest = await addImage(images, entries, { config });
  await images.name(reference, digest);
  return digest;
}

async function resolved(config = {}): Promise<ResolvedImage> {
  await addNamed('localhost/a:latest', PROGRAM, config);
  return images.resolve({ image: 'localhost/a' }, BUNDLE);
}

describe('resolving an image', () => {
  it('finds it by its tag, and by its digest without a tag', async () => {
    const digest = await addNamed('localhost/a:1');
    expect(await images.resolve({ image: 'localhost/a:1' }, BUNDLE)).toMatchObject({
      digest,
      reference: 'localhost/a:1',
    });
    const byDigest = { image: `localhost/a@${digest}` };
    expect(await images.resolve(byDigest, BUNDLE)).toMatchObject({ digest });
    expect(await images.resolve(byDigest, { ...BUNDLE, image: digest })).toMatchObject({ digest });
  });

  it('reports a missing image with its fix, so that another mode can be used', async () => {
    const error = await failureOf(images.resolve({ image: 'localhost/a:1' }, BUNDLE));
    expect(error).toMatchObject({
      code: 'skill_unavailable',
      message: 'The image "localhost/a:1" is not on this machine',
    });
    expect(error.fix).toBe('Get it with: skillcell build test/skill');
    const outside = await failureOf(
      images.resolve({ image: 'localhost/a:1' }, { ...BUNDLE, origin: 'project' }),
    );
    expect(outside.fix).toBe("Get it with: skillcell build '/my skills/skill'");
    expect(await images.refusal({ image: 'localhost/a:1' }, BUNDLE)).toMatchObject({ fix: error.fix });
    const base = { image: 'localhost/skillcell-python' };
    const temporary = { ...BUNDLE, origin: 'project' as const, sourceDir: '/var/tmp/gone-soon' };
    expect((await failureOf(images.resolve(base, temporary))).fix).toBe(
      'Get it with: skillcell build --base python',
    );
    await addNamed('localhost/a:1');
    expect(await images.refusal({ image: 'localhost/a:1' }, BUNDLE)).toBeUndefined();
  });

  it('reports a moved tag as drift, with both digests', async () => {
    const locked = await addNamed('localhost/a:1');
    const found = await addNamed('localhost/a:1', [{ name: 'other' }]);
    const declared = [{ image: 'localhost/a:1' }, { ...BUNDLE, image: locked }] as const;
    for (const attempt of [images.resolve(...declared), images.refusal(...declared)]) {
      const error = await failureOf(attempt);
      expect(error.code).toBe('manifest_drift');
      expect(error.message).toContain(locked);
      expect(error.message).toContain(found);
    }
  });

  it('reports another digest in the manifest as drift', async () => {
    const [locked, found] = [await addNamed('localhost/a:1'), await addNamed('localhost/b:1', [])];
    const error = await failureOf(
      images.resolve({ image: `localhost/a@${found}` }, { ...BUNDLE, image: locked }),
    );
    expect(error).toMatchObject({ code: 'manifest_drift', detail: { locked, found } });
  });

  it('uses the locked digest if the tag is gone, and reports the digest if it is missing too', async () => {
    const digest = await addNamed('localhost/a:1');
    const pinned = { ...BUNDLE, image: digest };
    expect(await images.resolve({ image: 'localhost/gone:1' }, pinned)).toMatchObject({ digest });
    const missing = `sha256:${'0'.repeat(64)}`;
    const error = await failureOf(
      images.resolve({ image: 'localhost/gone:1' }, { ...BUNDLE, image: missing }),
    );
    expect(error).toMatchObject({
      code: 'skill_unavailable',
      message: expect.stringContaining(missing) as string,
    });
  });

  it('finds the image that was built from a bundle, but not for another bundle', async () => {
    const digest = await addNamed('localhost/a:1');
    await images.recordBuild(BUNDLE.digest, digest);
    const rule = { dockerfile: 'Dockerfile' };
    expect(await images.resolve(rule, BUNDLE)).toMatchObject({
      digest,
      reference: 'Dockerfile of test/skill',
    });
    const changed = { ...BUNDLE, digest: `sha256:${'c'.repeat(64)}` };
    expect(await failureOf(images.resolve(rule, changed))).toMatchObject({ code: 'skill_unavailable' });
  });

  it('refuses an image for another architecture', async () => {
    const digest = await addImage(images, [], { architecture: 's390x' });
    await images.name('localhost/a:1', digest);
    const error = await failureOf(images.resolve({ image: 'localhost/a:1' }, BUNDLE));
    expect(error).toMatchObject({
      code: 'skill_unavailable',
      message: expect.stringContaining('is for "linux/s390x"') as string,
    });
  });
});

describe('the image store', () => {
  it('keeps an OCI layout of each image, and always writes the same archive', async () => {
    const image = await resolved();
    const index = JSON.parse(readFileSync(join(image.layout, 'index.json'), 'utf8')) as {
      manifests: { digest: string }[];
    };
    expect(index.manifests).toMatchObject([{ digest: image.digest }]);
    expect(readdirSync(join(image.layout, 'blobs/sha256'))).toContain(hexOf(image.id));
    const other = createImageStore({ home: tempFolder() });
    const digest = await addImage(other, PROGRAM);
    const again = other.describe((await other.find(digest)) ?? expect.fail(), 'x');
    expect(digest).toBe(image.digest);
    expect(readFileSync(await again.archive())).toEqual(readFileSync(await image.archive()));
  });

  it('unpacks an image once, even for concurrent requests', async () => {
    const image = await resolved();
    const stores = Array.from({ length: 4 }, () => createImageStore({ home: join(images.folder, '..') }));
    const places = await Promise.all(
      stores.map(async (store) => store.rootfs((await store.find(image.digest)) ?? expect.fail())),
    );
    expect(new Set(places)).toEqual(new Set([await image.rootfs()]));
    expect(readdirSync(join(images.folder, 'rootfs'))).toEqual([hexOf(image.digest)]);
  });

  it('detects a layer that changed on disk, and leaves nothing half unpacked', async () => {
    const image = await resolved();
    const { layers } = (await images.find(image.digest)) ?? expect.fail();
    const file = images.blobs.path(layers[0]?.digest ?? '');
    chmodSync(file, 0o644);
    const bytes = readFileSync(file);
    bytes[600] = (bytes[600] ?? 0) ^ 1;
    writeFileSync(file, bytes);
    const error = await failureOf(image.rootfs());
    expect(error).toMatchObject({
      code: 'skill_unavailable',
      message: expect.stringContaining('damaged') as string,
    });
    expect(readdirSync(join(images.folder, 'rootfs'))).toEqual([]);
  });

  it('removes drafts of killed processes, but not recent ones', async () => {
    const image = await resolved();
    const folder = join(images.folder, 'rootfs');
    for (const name of ['.new-old', '.new-young']) mkdirSync(join(folder, name, 'sub'), { recursive: true });
    const old = new Date(Date.now() - 2 * 60 * 60 * 1000);
    utimesSync(join(folder, '.new-old'), old, old);
    await image.rootfs();
    expect(readdirSync(folder).toSorted()).toEqual(['.new-young', hexOf(image.digest)]);
  });

  it('detects a config that changed on disk', async () => {
    const image = await resolved();
    chmodSync(images.blobs.path(image.id), 0o644);
    writeFileSync(images.blobs.path(image.id), '{}');
    expect((await failureOf(images.resolve({ image: 'localhost/a' }, BUNDLE))).message).toContain('damaged');
  });

  it('reports a full disk, and leaves nothing behind', () => {
    const script = fileURLToPath(new URL('fill-disk.ts', import.meta.url));
    const command = `mount -t tmpfs -o size=3m none "$1" && exec "$2" "$3" "$1"`;
    const result = spawnSync(
      'unshare',
      ['-rm', 'sh', '-c', command, 'sh', tempFolder(), process.execPath, script],
      {
        encoding: 'utf8',
      },
    );
    expect(result.stderr).toBe('');
    expect(JSON.parse(result.stdout)).toEqual({
      code: 'skill_unavailable',
      message: 'The disk is full: the unpacked image could not be written',
      left: [],
    });
  });
});

describe('an unpacked image', () => {
  it('has its programs found by name and by path, and nothing else', async () => {
    const image = await resolved({ Env: ['PATH=/nowhere:/bin'], WorkingDir: '/usr' });
    expect(await findProgram(image, 'tool')).toBe('/bin/tool');
    expect(await findProgram(image, '/usr/bin/tool')).toBe('/usr/bin/tool');
    expect(await findProgram(image, 'bin/tool')).toBe('/usr/bin/tool');
    for (const program of ['data', 'python3', '/usr/bin', 'loop/x', '/escape']) {
      const error = await failureOf(findProgram(image, program));
      expect(error).toMatchObject({
        code: 'manifest_invalid',
        message: expect.stringContaining('has no program') as string,
      });
    }
  });

  it('has no path to a file of the host', async () => {
    const rootfs = await (await resolved()).rootfs();
    expect(existsSync('/etc/hostname')).toBe(true);
    expect(await pathInside(rootfs, '/escape')).toBeUndefined();
    expect(await pathInside(rootfs, '../../../../etc/hostname')).toBeUndefined();
    expect(await readInside(rootfs, '/bin/../../../etc/passwd')).toBe(PASSWD);
  });

  it.each([
    [undefined, '', { uid: 65_534, gid: 65_534 }],
    [undefined, 'root', { uid: 65_534, gid: 65_534 }],
    [undefined, 'toor', { uid: 65_534, gid: 65_534 }],
    [undefined, 'app', { uid: 1000, gid: 1001 }],
    [undefined, '1000', { uid: 1000, gid: 1001 }],
    ['1234', '', { uid: 1234, gid: 65_534 }],
    ['1234:7', 'root', { uid: 1234, gid: 7 }],
    ['app:users', '', { uid: 1000, gid: 100 }],
  ])('with the user %s in the manifest and %j in the image runs as %j', async (user, own, expected) => {
    const image = await resolved({ User: own });
    expect(await imageUser(image, user === undefined ? {} : { user })).toEqual(expected);
  });

  it.each(['toor', 'wheel', 'nobody-here', 'app:nothing', '0'])(
    'is refused with the user %s',
    async (user) => {
      const error = await failureOf(imageUser(await resolved(), { user }));
      expect(error.code).toBe('unenforceable');
    },
  );
});
