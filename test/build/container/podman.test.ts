import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildImage } from '../../../src/build/container/build-image.ts';
import { makeImage } from '../../../src/build/container/make-image.ts';
import { parseDockerfile } from '../../../src/build/container/dockerfile.ts';
import { engineName } from '../../../src/cell/images/archive.ts';
import { fetchImage } from '../../../src/cell/images/fetch.ts';
import { createImageStore, type LocalImages, type StoredImage } from '../../../src/cell/images/store.ts';
import { removeTree } from '../../../src/load/remove-tree.ts';
import { seedImages, sharedBaseImage } from '../../cell/images/base-image.ts';
import { addImage, failureOf, listing } from '../../cell/images/helpers.ts';
import { manifestWith, writeTree } from '../../load/helpers.ts';

/** Podman with storage only for this test. */
let folder: string;
let home: string;
let images: LocalImages;

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'skillcell-podman-')));
  chmodSync(folder, 0o755);
  const storage = `[storage]\ndriver = "overlay"\ngraphroot = "${folder}/graph"\nrunroot = "${folder}/run"\n`;
  writeFileSync(join(folder, 'storage.conf'), storage);
  process.env['CONTAINERS_STORAGE_CONF'] = join(folder, 'storage.conf');
  home = join(folder, 'home');
  await seedImages(home);
  images = createImageStore({ home });
});

afterAll(async () => {
  // Not `system reset`, which affects more than this storage.
  podman('rmi', '--all', '--force');
  spawnSync('umount', [join(folder, 'graph/overlay')]);
  delete process.env['CONTAINERS_STORAGE_CONF'];
  await removeTree(home);
  rmSync(folder, { recursive: true, force: true });
});

function podman(...args: string[]): string {
  const ended = spawnSync('podman', args, { encoding: 'utf8' });
  if (ended.status !== 0) throw new Error(`podman ${args.join(' ')}: ${ended.stderr}`);
  return ended.stdout.trim();
}

async function archiveOf(digest: string): Promise<string> {
  return images.describe((await images.find(digest)) ?? expect.fail(), '').archive();
}

const JOB = { dockerfile: 'Dockerfile', network: false, onProgress: () => undefined };

async function build(dockerfile: string, files: Record<string, string> = {}): Promise<StoredImage> {
  const contents = new Map(
    Object.entries({ ...files, Dockerfile: dockerfile }).map(([path, text]) => [path, Buffer.from(text)]),
  );
  const digest = await makeImage({ ...JOB, home, images, contents });
  return (await images.find(digest)) ?? expect.fail();
}

it('podman loads our archive under the id and the digest that we compute', async () => {
  const { digest } = await sharedBaseImage();
  const image = images.describe((await images.find(digest)) ?? expect.fail(), 'base');
  podman('load', '--quiet', '--input', await image.archive());
  const [shown] = JSON.parse(podman('image', 'inspect', image.id.slice('sha256:'.length))) as {
    Digest: string;
    Architecture: string;
  }[];
  expect(shown).toMatchObject({ Digest: digest, Architecture: image.config.architecture });
});

it('podman runs RUN without a network, and the result is ours', async () => {
  const image = await build(
    'FROM localhost/skillcell-python\nUSER 0\nRUN busybox ls /sys/class/net > /made; id >> /made\nUSER 1000\n',
  );
  const lines = await listing(await images.tree(image));
  const made = lines.find((line) => line.startsWith('made '));
  expect(made).toContain('uid=0');
  expect(made).toContain(' lo\n');
  expect(made).not.toContain('eth');
  expect(image.document.config?.User).toBe('1000');
  // Only the base image and its name are left.
  expect(podman('images', '--format', '{{.Repository}}')).not.toContain('skillcell-build');
});

it('the errors of podman are shown if a step fails, and nothing is left behind', async () => {
  const error = await failureOf(build('FROM localhost/skillcell-python\nRUN echo out of luck >&2; exit 3\n'));
  expect(error).toMatchObject({ code: 'skill_unavailable', message: 'podman could not build the image' });
  expect(error.detail['trace']).toContain('out of luck');
  expect(podman('images', '--format', '{{.Repository}}')).not.toContain('skillcell-build');
});

it('our builder and podman agree on the meaning of a Dockerfile', async () => {
  const text = [
    'FROM localhost/skillcell-python',
    'USER 0',
    'ENV A=1 B="x y"',
    'WORKDIR /app/in',
    'COPY skill.py data ./',
    'COPY --chmod=755 --chown=5:6 skill.py /bin/tool',
    'USER 1000:1000',
    'ENTRYPOINT ["/usr/bin/python3"]',
    'CMD ["skill.py"]',
  ].join('\n');
  const files = { 'skill.py': 'print(1)', 'data/a.txt': 'A', 'data/sub/b.txt': 'B' };
  expect(parseDockerfile(text).needsEngine).toBeUndefined();
  expect(parseDockerfile(`${text}\nARG x`).needsEngine).toBe('ARG in line 10');
  const [ours, theirs] = [await build(text, files), await build(`${text}\nARG x`, files)];
  const keys = ['Env', 'WorkingDir', 'User', 'Entrypoint', 'Cmd'] as const;
  for (const key of keys) expect(ours.document.config?.[key], key).toEqual(theirs.document.config?.[key]);
  expect(await listing(await images.tree(ours))).toEqual(await listing(await images.tree(theirs)));
});

it('an image is exported from podman, a moved tag is noticed, and a pinned image is never requested again', async () => {
  const small = await addImage(images, [{ name: 'one' }]);
  podman('load', '--quiet', '--input', await archiveOf(small));
  podman('tag', engineName(small), 'localhost/moving:1');
  const skill = writeTree(join(folder, 'skill'), {
    'manifest.yaml':
      'name: test/skill\nversion: 1.0.0\ndescription: x\ncapabilities: {}\nexecution: container\ncontainer: { image: "localhost/moving:1" }\n',
  });
  const built = await buildImage(skill, { home });
  expect(built).toMatchObject({ lock: 'written' });
  expect(readFileSync(join(skill, 'skill.lock'), 'utf8')).toContain(built?.digest);
  const base = await sharedBaseImage();
  podman('load', '--quiet', '--input', await archiveOf(base.digest));
  podman('tag', engineName(base.digest), 'localhost/moving:1');
  expect(await fetchImage(images, 'localhost/moving:1')).toBe(base.digest);
  const bundle = {
    digest: base.digest,
    image: built?.digest ?? '',
    manifest: manifestWith({ name: 'test/skill' }),
    origin: 'project' as const,
    sourceDir: skill,
  };
  const error = await failureOf(images.resolve({ image: 'localhost/moving:1' }, bundle));
  expect(error).toMatchObject({
    code: 'manifest_drift',
    detail: { locked: built?.digest, found: base.digest },
  });
});

it('podman pulls from a registry by tag and by digest, and a failure is reported', async () => {
  const digest = await addImage(images, [{ name: 'from-registry' }]);
  const registry = await serveRegistry(digest);
  process.env['CONTAINERS_REGISTRIES_CONF'] = join(folder, 'registries.conf');
  writeFileSync(
    join(folder, 'registries.conf'),
    `[[registry]]\nlocation = "${registry.host}"\ninsecure = true\n`,
  );
  try {
    expect(await fetchImage(images, `${registry.host}/team/skill:1`)).toBe(digest);
    expect(await images.digestFor(`${registry.host}/team/skill:1`)).toBe(digest);
    expect(await fetchImage(images, `${registry.host}/team/skill@${digest}`)).toBe(digest);
    const error = await failureOf(fetchImage(images, `${registry.host}/team/other:1`));
    expect(error).toMatchObject({
      code: 'skill_unavailable',
      message: expect.stringContaining('could not fetch the image') as string,
    });
  } finally {
    delete process.env['CONTAINERS_REGISTRIES_CONF'];
    registry.close();
  }
});

/** A registry on loopback with one image, `team/skill:1`. */
async function serveRegistry(digest: string): Promise<{ host: string; close: () => void }> {
  const blob = (name: string): Buffer | undefined =>
    images.blobs.has(name) ? readFileSync(images.blobs.path(name)) : undefined;
  const server = createServer((request, response) => {
    const [, kind, name = ''] = /^\/v2\/team\/skill\/(manifests|blobs)\/(.+)$/.exec(request.url ?? '') ?? [];
    const bytes = request.url === '/v2/' ? Buffer.from('{}') : kind && blob(name === '1' ? digest : name);
    if (kind === 'manifests')
      response.setHeader('content-type', 'application/vnd.oci.image.manifest.v1+json');
    response.writeHead(bytes ? 200 : 404, { 'content-length': bytes ? bytes.length : 0 });
    response.end(request.method === 'HEAD' ? undefined : bytes);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { host: `localhost:${port}`, close: () => void server.close() };
}

it('an image that cannot be found is reported', async () => {
  const error = await failureOf(fetchImage(images, 'localhost/nowhere:1'));
  expect(error).toMatchObject({
    code: 'skill_unavailable',
    message: 'The image "localhost/nowhere:1" is not on this machine',
  });
});
