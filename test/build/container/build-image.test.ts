import { spawnSync } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { buildBase } from '../../../src/build/container/base-image.ts';
import { buildImage } from '../../../src/build/container/build-image.ts';
import { pathInside } from '../../../src/cell/images/inside.ts';
import { createImageStore } from '../../../src/cell/images/store.ts';
import { createRuntime } from '../../../src/runtime.ts';
import { seedImages, sharedBaseImage } from '../../cell/images/base-image.ts';
import { failureOf, tempFolder } from '../../cell/images/helpers.ts';
import { writeTree } from '../../load/helpers.ts';

const DOCKERFILE =
  'FROM localhost/skillcell-python\nCOPY skill.py /app/\nENTRYPOINT ["/usr/bin/python3", "/app/skill.py"]\n';

beforeAll(() => sharedBaseImage());

interface Place {
  home: string;
  skill: string;
}

async function place(files: Record<string, string> = {}): Promise<Place> {
  const folder = tempFolder();
  // Cells must be able to traverse this folder.
  chmodSync(folder, 0o755);
  const home = join(folder, 'home');
  await seedImages(home);
  const skill = writeTree(join(folder, 'skill'), {
    'manifest.yaml': manifest('dockerfile: Dockerfile'),
    'skill.py': 'def execute(params):\n    return {"echo": params}\n',
    Dockerfile: DOCKERFILE,
    ...files,
  });
  return { home, skill };
}

function manifest(container: string): string {
  return `name: test/skill\nversion: 1.0.0\ndescription: x\nexecution: [container, wasm]\ncapabilities: {}\ncontainer: { ${container} }\n`;
}

/** Simulates a machine without Debian's tools and without container engines. */
function withoutPrograms(): void {
  vi.stubEnv('PATH', '/nowhere');
  vi.stubEnv('DOCKER_HOST', 'unix:///nowhere');
  onTestFinished(() => void vi.unstubAllEnvs());
}

function pinned({ skill }: Place): unknown {
  return (JSON.parse(readFileSync(join(skill, 'skill.lock'), 'utf8')) as { image?: unknown }).image;
}

async function load({ home, skill }: Place): Promise<{ image?: string }> {
  await using runtime = createRuntime({ home, audit: false });
  const loaded = await runtime.load(skill);
  const { bundle } = loaded;
  const images = createImageStore({ home });
  // Requirements of a mode are checked when it is chosen.
  if (bundle.image === undefined || (await images.find(bundle.image)) === undefined)
    await runtime.choose(loaded);
  await images.resolve(bundle.manifest.container ?? {}, bundle);
  return bundle;
}

describe('building a skill with a Dockerfile', () => {
  it('pins the digest in the lock, and the skill loads with it', async () => {
    const at = await place();
    const built = await buildImage(at.skill, at);
    expect(built).toMatchObject({ reference: 'Dockerfile', lock: 'written' });
    expect(pinned(at)).toBe(built?.digest);
    expect(await load(at)).toMatchObject({ image: built?.digest });
    expect((await buildImage(at.skill, at))?.digest).toBe(built?.digest);
  });

  it('reports drift if a rebuild differs from the locked image', async () => {
    const at = await place();
    const built = await buildImage(at.skill, at);
    const lock = join(at.skill, 'skill.lock');
    const other = `sha256:${'1'.repeat(64)}`;
    writeFileSync(lock, readFileSync(lock, 'utf8').replace(built?.digest ?? '', other));
    const error = await failureOf(load(at));
    expect(error).toMatchObject({ code: 'manifest_drift', detail: { locked: other, found: built?.digest } });
  });

  it('does not change a lock that no longer matches', async () => {
    const at = await place();
    const first = await buildImage(at.skill, at);
    writeFileSync(join(at.skill, 'skill.py'), 'def execute(params):\n    return {}\n');
    const second = await buildImage(at.skill, at);
    expect(second?.lock).toBe('stale');
    expect(second?.digest).not.toBe(first?.digest);
    expect(pinned(at)).toBe(first?.digest);
    expect(await failureOf(load(at))).toMatchObject({ code: 'manifest_drift' });
  });

  it('reports that a program is missing in the image', async () => {
    const at = await place({
      'manifest.yaml': `${manifest('dockerfile: Dockerfile')}entry: Dockerfile\n`,
      Dockerfile: 'FROM localhost/skillcell-python\nENTRYPOINT ["/app/none"]\n',
    });
    const error = await failureOf(buildImage(at.skill, at));
    expect(error).toMatchObject({
      code: 'manifest_invalid',
      message: expect.stringContaining('has no program "/app/none"') as string,
    });
  });

  it('refuses a Dockerfile that is not a file of the bundle', async () => {
    const at = await place({ 'manifest.yaml': manifest('dockerfile: docker/Dockerfile') });
    for (const attempt of [buildImage(at.skill, at), load(at)]) {
      expect(await failureOf(attempt)).toMatchObject({
        code: 'manifest_invalid',
        detail: { dockerfile: 'docker/Dockerfile' },
      });
    }
  });

  it('does nothing for a skill without a container', async () => {
    const at = await place({ 'manifest.yaml': 'name: test/skill\nversion: 1.0.0\ndescription: x\n' });
    expect(await buildImage(at.skill, at)).toBeUndefined();
  });

  it('needs an engine only for RUN or for a foreign base image, and reports if it is missing', async () => {
    const run = await place({ Dockerfile: `${DOCKERFILE}RUN true\n` });
    const named = await place({ 'manifest.yaml': manifest('image: localhost/nothing:1') });
    const own = await place();
    withoutPrograms();
    const error = await failureOf(buildImage(run.skill, run));
    expect(error).toMatchObject({
      code: 'skill_unavailable',
      message: expect.stringContaining('RUN in line 4 needs a container engine') as string,
    });
    expect((await failureOf(buildImage(named.skill, named))).message).toContain(
      'neither podman nor docker responds',
    );
    expect(await buildImage(own.skill, own)).toMatchObject({ lock: 'written' });
  });
});

describe('a skill that names an image', () => {
  it('is pinned to the current digest, and drifts if the tag moves', async () => {
    const at = await place({ 'manifest.yaml': manifest('image: localhost/skillcell-python') });
    const built = await buildImage(at.skill, at);
    expect(built).toMatchObject({ digest: (await sharedBaseImage()).digest, lock: 'written' });
    expect(pinned(at)).toBe(built?.digest);
    expect(await load(at)).toMatchObject({ image: built?.digest });
    const images = createImageStore(at);
    const base = (await images.find(built?.digest ?? '')) ?? expect.fail();
    const changed = Buffer.from(JSON.stringify({ ...base.document, author: 'somebody else' }));
    const moved = await images.add(changed, base.layers);
    await images.name('localhost/skillcell-python:latest', moved);
    const error = await failureOf(load(at));
    expect(error).toMatchObject({ code: 'manifest_drift', detail: { locked: built?.digest, found: moved } });
    expect(error.message).toContain(moved);
  });
});

describe('the base image', () => {
  it('has the same digest after a rebuild', async () => {
    const shared = await sharedBaseImage();
    const again = await buildBase('python', { home: tempFolder() });
    expect(again.digest).toBe(shared.digest);
    expect(again.reference).toMatch(/^localhost\/skillcell-python:3\.\d+$/);
    expect(again.packages.length).toBeGreaterThan(20);
  });

  it('has Python with bytecode and json, a shell, and no setuid program', async () => {
    const shared = await sharedBaseImage();
    const images = createImageStore(shared);
    const rootfs = await images.rootfs((await images.find(shared.digest)) ?? expect.fail());
    for (const path of ['/usr/bin/python3', '/bin/sh', '/lib64', '/etc/passwd']) {
      expect(await pathInside(rootfs, path), path).toContain(rootfs);
    }
    const found = spawnSync('find', [rootfs, '-name', '__init__.cpython-*.pyc', '-path', '*/json/*'], {
      encoding: 'utf8',
    });
    expect(found.stdout.trim().split('\n')).toHaveLength(1);
    expect(spawnSync('find', [rootfs, '-perm', '/6000'], { encoding: 'utf8' }).stdout).toBe('');
    const writable = spawnSync('find', [rootfs, '-not', '-type', 'l', '-perm', '/022'], { encoding: 'utf8' });
    expect(writable.stdout).toBe(`${rootfs}/tmp\n`);
  });

  it('cannot be built without Debian, and the error says what is missing', async () => {
    withoutPrograms();
    const error = await failureOf(buildBase('python', { home: tempFolder() }));
    expect(error).toMatchObject({
      code: 'skill_unavailable',
      message: expect.stringContaining('apt-get, apt-cache, dpkg-deb is not installed') as string,
    });
    expect(await failureOf(buildBase('cobol'))).toMatchObject({ code: 'usage' });
  });
});
