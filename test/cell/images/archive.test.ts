import { readdirSync } from 'node:fs';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import * as fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { readArchive } from '../../../src/cell/images/archive.ts';
import { IMAGE_LIMITS } from '../../../src/cell/images/limits.ts';
import { digestOf, ownArchitecture } from '../../../src/cell/images/oci.ts';
import { createImageStore, type LocalImages } from '../../../src/cell/images/store.ts';
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

/** An archive as an engine writes it: a list, a config, and layers that may be compressed. */
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

/** The archive with another file in place of one of its own. */
const changed = (name: string, text: string) => (): string => archive({ changes: [{ name, text }] });

let images: LocalImages;
beforeEach(() => {
  images = createImageStore({ home: tempFolder() });
});

describe("an engine's archive", () => {
  it.each([
    ['plain', (bytes: Buffer) => bytes],
    ['gzip', (bytes: Buffer) => gzipSync(bytes)],
    ['zstd', (bytes: Buffer) => zstdCompressSync(bytes)],
  ])('gives the same image for every compression of its layers: %s', async (_, pack) => {
    const { config, layers } = await readArchive(
      archive({ layers: [pack(LAYER)], plain: [LAYER] }),
      images.blobs,
    );
    expect(layers).toEqual([{ digest: digestOf(LAYER), size: LAYER.length }]);
    expect(config.toString()).toBe(configOf([LAYER]));
  });

  it('may contain a layer twice through a link, as docker writes it', async () => {
    const changes = [{ name: '1/layer.tar', type: '2', linkName: '../0/layer.tar' }];
    const names = ['0/layer.tar', '1/layer.tar'];
    const file = archive({ plain: [LAYER, LAYER], changes, names });
    expect((await readArchive(file, images.blobs)).layers).toHaveLength(2);
  });

  it.each<[string, () => string, string]>([
    [
      'whose layer has another digest',
      () => archive({ plain: [Buffer.from('x')] }),
      'should have the digest sha256:',
    ],
    ['with one layer too many', () => archive({ plain: [] }), 'differ from those in the archive'],
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
      'with a damaged compressed layer',
      () => archive({ layers: [gzipSync(LAYER).subarray(0, 40)], plain: [LAYER] }),
      'cannot be decompressed',
    ],
    ['without a list', changed('manifest.json', '[]'), 'no valid list of images'],
    ['whose list is not JSON', changed('manifest.json', '{'), 'no valid list of images'],
    ['whose config is not JSON', changed('config.json', 'x'), 'config is not valid JSON'],
    ['whose config is empty', changed('config.json', '{}'), 'config is not valid'],
    ['that is not a tar file', () => tempFile(Buffer.from('no archive')), 'has no part "manifest.json"'],
  ])('%s is reported as damaged', async (_, file, text) => {
    const error = await failureOf(readArchive(file(), images.blobs));
    expect(error).toMatchObject({ code: 'skill_unavailable' });
    expect(error.message).toContain('The image is damaged');
    expect(error.message).toContain(text);
  });

  it('that decompresses to more than the limit is refused early and leaves nothing behind', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024), { level: 1 });
    expect(bomb.length).toBeLessThan(1024 * 1024);
    const limits = { ...IMAGE_LIMITS, bytes: 2 * 1024 * 1024 };
    const error = await failureOf(
      readArchive(archive({ layers: [LAYER, bomb], plain: [LAYER, bomb] }), images.blobs, limits),
    );
    expect(error).toMatchObject({ code: 'manifest_invalid', detail: { limit: limits.bytes } });
    expect(readdirSync(images.blobs.folder)).toEqual([digestOf(LAYER).slice(7)]);
  });

  it('with a config that is too large, or with too many layers, is refused', async () => {
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

  it('is refused with a SkillError whatever its documents contain', async () => {
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
