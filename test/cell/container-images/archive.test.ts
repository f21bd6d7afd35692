import { readdirSync } from 'node:fs';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import * as fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { readArchive } from '../../../src/cell/container/images/archive.ts';
import { IMAGE_LIMITS } from '../../../src/cell/container/images/limits.ts';
import { digestOf, ownArchitecture } from '../../../src/cell/container/images/oci.ts';
import { createImageStore, type LocalImages } from '../../../src/cell/container/images/store.ts';
import { SkillError } from '../../../src/errors.ts';
import { failureOf, tarOf, tempFile, tempFolder, type Entry } from './helpers.ts';

const LAYER = tarOf([{ name: 'a', text: 'hello' }]);

function configOf(layers: readonly Buffer[]): string {
  const diffIds = layers.map(digestOf);
  return JSON.stringify({
    architecture: ownArchitecture(),
    os: 'linux',
    rootfs: { type: 'layers', diff_ids: diffIds },
  });
}

/** What an engine would write: its list, a config, and layers that may be packed. */
function archive(
  parts: { layers?: Buffer[]; plain?: Buffer[]; changes?: Entry[]; names?: string[] } = {},
): string {
  const {
    layers = [LAYER],
    plain = layers,
    changes = [],
    names = layers.map((_, at) => `${at}/layer.tar`),
  } = parts;
  const list = JSON.stringify([{ Config: 'config.json', RepoTags: null, Layers: names }]);
  const files = [
    ...layers.map((text, at) => ({ name: `${at}/layer.tar`, text })),
    { name: 'config.json', text: configOf(plain) },
    { name: 'manifest.json', text: list },
  ];
  return tempFile(tarOf([...files, ...changes]));
}

let images: LocalImages;
beforeEach(() => {
  images = createImageStore({ home: tempFolder() });
});

describe('an archive of an engine', () => {
  it.each([
    ['plain', (bytes: Buffer) => bytes],
    ['gzip', (bytes: Buffer) => gzipSync(bytes)],
    ['zstd', (bytes: Buffer) => zstdCompressSync(bytes)],
  ])('is the same image however its layers are packed: %s', async (_, pack) => {
    const { config, layers } = await readArchive(
      archive({ layers: [pack(LAYER)], plain: [LAYER] }),
      images.blobs,
    );
    expect(layers).toEqual([{ digest: digestOf(LAYER), size: LAYER.length }]);
    expect(config.toString()).toBe(configOf([LAYER]));
  });

  it('may have a layer twice, by a link as docker writes it', async () => {
    const changes = [{ name: '1/layer.tar', type: '2', linkName: '../0/layer.tar' }];
    const names = ['0/layer.tar', '1/layer.tar'];
    const file = archive({ plain: [LAYER, LAYER], changes, names });
    expect((await readArchive(file, images.blobs)).layers).toHaveLength(2);
  });

  it.each<[string, () => string, string]>([
    ['whose layer is another', () => archive({ plain: [Buffer.from('x')] }), 'should be sha256:'],
    ['with a layer too many', () => archive({ plain: [] }), 'names other layers'],
    ['without its layer', () => archive({ names: ['gone'] }), 'has no part "gone"'],
    [
      'with a link to nothing',
      () => archive({ changes: [{ name: '0/layer.tar', type: '2', linkName: 'x' }] }),
      'has no part',
    ],
    [
      'with a link to itself',
      () => archive({ changes: [{ name: '0/layer.tar', type: '2', linkName: 'layer.tar' }] }),
      'has no part',
    ],
    ['with an empty layer', () => archive({ layers: [Buffer.alloc(0)] }), 'a layer is empty'],
    [
      'with a damaged packed layer',
      () => archive({ layers: [gzipSync(LAYER).subarray(0, 40)], plain: [LAYER] }),
      'cannot be unpacked',
    ],
    [
      'without a list',
      () => archive({ changes: [{ name: 'manifest.json', text: '[]' }] }),
      'no list of images',
    ],
    [
      'whose list is no JSON',
      () => archive({ changes: [{ name: 'manifest.json', text: '{' }] }),
      'no list of images',
    ],
    [
      'whose config is no JSON',
      () => archive({ changes: [{ name: 'config.json', text: 'x' }] }),
      'config is no JSON',
    ],
    [
      'whose config says nothing',
      () => archive({ changes: [{ name: 'config.json', text: '{}' }] }),
      'config is none',
    ],
    ['that is none', () => tempFile(Buffer.from('no archive')), 'has no part "manifest.json"'],
  ])('%s is called damaged', async (_, file, words) => {
    const error = await failureOf(readArchive(file(), images.blobs));
    expect(error).toMatchObject({ code: 'skill_unavailable' });
    expect(error.message).toContain('The image is damaged');
    expect(error.message).toContain(words);
  });

  it('that unpacks to far more than it is ends early, and leaves nothing', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024), { level: 1 });
    expect(bomb.length).toBeLessThan(1024 * 1024);
    const limits = { ...IMAGE_LIMITS, bytes: 2 * 1024 * 1024 };
    const error = await failureOf(
      readArchive(archive({ layers: [LAYER, bomb], plain: [LAYER, bomb] }), images.blobs, limits),
    );
    expect(error).toMatchObject({ code: 'manifest_invalid', detail: { limit: limits.bytes } });
    expect(readdirSync(images.blobs.folder)).toEqual([digestOf(LAYER).slice(7)]);
  });

  it('with a config that is too large, or too many layers, is refused', async () => {
    const large = [{ name: 'config.json', text: ' '.repeat(IMAGE_LIMITS.jsonBytes + 1) }];
    expect(await failureOf(readArchive(archive({ changes: large }), images.blobs))).toMatchObject({
      code: 'manifest_invalid',
    });
    const limits = { ...IMAGE_LIMITS, layers: 1 };
    const many = archive({ layers: [LAYER, LAYER] });
    expect((await failureOf(readArchive(many, images.blobs, limits))).message).toContain(
      '2 layers, more than 1',
    );
  });

  it('can say anything in its documents without more than a refusal', async () => {
    const json = fc.oneof(fc.json({ maxDepth: 3 }), fc.string()).map((text) => Buffer.from(text));
    await fc.assert(
      fc.asyncProperty(json, fc.constantFrom('manifest.json', 'config.json'), async (text, name) => {
        const error = await readArchive(archive({ changes: [{ name, text }] }), images.blobs).catch(
          (thrown: unknown) => thrown,
        );
        expect(error).toBeInstanceOf(SkillError);
      }),
      { numRuns: 60 },
    );
  });
});
