import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { startDocker, type DockerService } from '../../../scripts/docker-service.ts';
import { makeImage } from '../../../src/build/container/make-image.ts';
import { engineName } from '../../../src/cell/images/archive.ts';
import { dockerEngine } from '../../../src/cell/images/docker.ts';
import type { ImageEngine } from '../../../src/cell/images/engine.ts';
import { importFrom } from '../../../src/cell/images/fetch.ts';
import { createImageStore, type LocalImages } from '../../../src/cell/images/store.ts';
import { removeTree } from '../../../src/load/remove-tree.ts';
import { seedImages, sharedBaseImage } from '../../cell/images/base-image.ts';
import { failureOf, listing } from '../../cell/images/helpers.ts';

/** A Docker service only for this test, without a network. */
let folder: string;
let docker: DockerService;
let engine: ImageEngine;
let images: LocalImages;

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'skillcell-images-')));
  docker = await startDocker();
  vi.stubEnv('DOCKER_HOST', `unix://${docker.socket}`);
  const home = join(folder, 'home');
  await seedImages(home);
  images = createImageStore({ home });
  engine = (await dockerEngine()) ?? expect.fail('docker does not answer');
});

afterAll(async () => {
  await docker.close();
  vi.unstubAllEnvs();
  await removeTree(join(folder, 'home'));
  rmSync(folder, { recursive: true, force: true });
});

it('docker loads our archive under the id that we compute, and exports the same image', async () => {
  const { digest } = await sharedBaseImage();
  const image = images.describe((await images.find(digest)) ?? expect.fail(), 'base');
  await engine.load(await image.archive());
  expect(await engine.has(image.id)).toBe(true);
  expect(await engine.has('localhost/nowhere:1')).toBe(false);
  expect(await importFrom(images, engine, engineName(digest))).toBe(digest);
});

it('docker runs RUN without a network, and its errors are shown', async () => {
  vi.stubEnv('PATH', '/nowhere');
  const build = (run: string): Promise<string> => {
    const text = `FROM localhost/skillcell-python\nUSER 0\nRUN ${run}\nCOPY data/a.txt /a.txt\n`;
    const contents = new Map([
      ['docker/Dockerfile', Buffer.from(text)],
      ['data/a.txt', Buffer.from('A')],
    ]);
    const job = { home: join(folder, 'home'), images, contents, network: false, onProgress: () => undefined };
    return makeImage({ ...job, dockerfile: 'docker/Dockerfile' });
  };
  const image = (await images.find(await build('busybox ls /sys/class/net > /made'))) ?? expect.fail();
  const lines = await listing(await images.tree(image));
  expect(lines).toContain('made file 644 0:0 lo\n');
  expect(lines).toContain('a.txt file 644 0:0 A');
  const error = await failureOf(build('echo out of luck >&2; exit 3'));
  expect(error).toMatchObject({ code: 'skill_unavailable', message: 'docker could not build the image' });
  expect(error.detail['trace']).toContain('returned a non-zero code: 3');
});

it('a damaged archive is detected', async () => {
  const { digest } = await sharedBaseImage();
  const damaged: ImageEngine = {
    ...engine,
    save: async (reference, file) => {
      await engine.save(reference, file);
      const bytes = readFileSync(file);
      const at = bytes.indexOf('busybox', bytes.length / 2);
      bytes[at] = (bytes[at] ?? 0) ^ 1;
      writeFileSync(file, bytes);
    },
  };
  const error = await failureOf(importFrom(images, damaged, engineName(digest)));
  expect(error).toMatchObject({
    code: 'skill_unavailable',
    message: expect.stringContaining('damaged') as string,
  });
});
