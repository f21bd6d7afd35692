import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { IMAGE_LIMITS } from '../../../src/cell/images/limits.ts';
import { createImageStore } from '../../../src/cell/images/store.ts';
import { writeTree } from '../../../src/cell/images/unpack.ts';
import { SkillError } from '../../../src/errors.ts';
import { addImage, failureOf, listing, tempFolder, treeOf, type Entry } from './helpers.ts';

const folder = (name: string, mode = 0o755): Entry => ({ name, type: '5', mode });
const link = (name: string, linkName: string): Entry => ({ name, type: '2', linkName });
const hard = (name: string, linkName: string): Entry => ({ name, type: '1', linkName });

describe('layers', () => {
  it('replace earlier files with later ones, and merge folders', async () => {
    const tree = await treeOf([
      [folder('etc'), { name: 'etc/a', text: '1' }, { name: 'etc/b', text: '1' }],
      [folder('etc', 0o700), { name: 'etc/a', text: '2' }],
    ]);
    expect(await listing(tree)).toEqual([
      'etc folder 700 0:0',
      'etc/a file 644 0:0 2',
      'etc/b file 644 0:0 1',
    ]);
  });

  it('apply whiteouts only to the layers below', async () => {
    const below = [
      { name: 'd/a', text: '1' },
      { name: 'd/b', text: '1' },
      { name: 'e/x', text: '1' },
    ];
    const above = [
      { name: 'd/.wh.a' },
      { name: 'e/new', text: '2' },
      { name: 'e/.wh..wh..opq' },
      { name: 'none/.wh.b' },
      { name: '.wh.gone' },
    ];
    const lines = await listing(await treeOf([below, above]));
    expect(lines).toEqual([
      'd folder 755 0:0',
      'd/b file 644 0:0 1',
      'e folder 755 0:0',
      'e/new file 644 0:0 2',
    ]);
  });

  it('follow links to folders as the kernel would, inside the tree', async () => {
    const lines = await listing(
      await treeOf([
        [folder('usr/bin'), link('bin', 'usr/bin'), link('up', '../../../usr')],
        [
          { name: 'bin/x', text: '1' },
          { name: 'up/y', text: '1' },
        ],
      ]),
    );
    expect(lines).toContain('usr/bin/x file 644 0:0 1');
    expect(lines).toContain('usr/y file 644 0:0 1');
    expect(lines).toContain('bin -> usr/bin');
  });

  it('replace a link to a folder with a folder, unless they are Debian packages', async () => {
    const layers = [
      [folder('usr/bin'), link('bin', 'usr/bin')],
      [folder('bin'), { name: 'bin/x', text: '1' }],
    ];
    expect(await listing(await treeOf(layers))).toContain('bin/x file 644 0:0 1');
    expect(await listing(await treeOf(layers, { keepsFolderLinks: true }))).toContain(
      'usr/bin/x file 644 0:0 1',
    );
  });

  it('lose devices, pipes and set-id bits', async () => {
    const tree = await treeOf([
      [
        { name: 'su', mode: 0o6755, text: '#' },
        folder('tmp', 0o7777),
        ...['3', '4', '6'].map((type) => ({ name: `dev${type}`, type })),
      ],
    ]);
    expect(await listing(tree)).toEqual(['su file 755 0:0 #', 'tmp folder 1777 0:0']);
  });
});

describe('an image', () => {
  const cases: [string, Entry[], string][] = [
    ['with a path that leads out', [{ name: '../evil' }], 'leads out'],
    ['with a path that leads out after a folder', [{ name: 'a/../../evil' }], 'leads out'],
    ['with a hard link to a file outside', [hard('passwd', '../../etc/passwd')], 'leads out'],
    ['with a hard link to a missing file', [hard('passwd', '/etc/passwd')], 'not a file in it'],
    ['with a file in a file', [{ name: 'a' }, { name: 'a/b' }], 'not a folder'],
    ['with a file behind a dangling link', [link('l', '/nowhere'), { name: 'l/x' }], 'not a folder'],
    ['with a file behind a link to itself', [link('l', 'l'), { name: 'l/x' }], 'not a folder'],
    ['with a link without a target', [link('l', '')], 'points nowhere'],
    ['with an entry of an unknown kind', [{ name: 'x', type: 'Z' }], 'unknown kind'],
    ['with a name that is too long', [{ name: 'n'.repeat(256) }], 'too long'],
    ['with a path that is too long', [{ name: 'n/'.repeat(2100) }], 'more than 4096 bytes'],
    ['that is nested too deeply', [{ name: 'n/'.repeat(200) }], 'deeper than 128'],
  ];
  it.each(cases)('%s is refused', async (_, entries, text) => {
    const error = await failureOf(treeOf([entries]));
    expect(error.code).toBe('manifest_invalid');
    expect(error.message).toContain(text);
  });

  it('with too many files is refused', async () => {
    const entries = Array.from({ length: 11 }, (_, index) => ({ name: `f${index}` }));
    const error = await failureOf(treeOf([entries], { limits: { ...IMAGE_LIMITS, entries: 10 } }));
    expect(error.message).toContain('more than 10 files');
  });

  it('with too many files in all layers together is refused', async () => {
    const layers = Array.from({ length: 4 }, () => [{ name: 'a' }, { name: 'b' }, { name: 'c' }]);
    const error = await failureOf(treeOf(layers, { limits: { ...IMAGE_LIMITS, entries: 10 } }));
    expect(error.message).toContain('more than 10 files');
  });

  it('that unpacks to too many bytes is refused, even if they are hard links to one file', async () => {
    const limits = { ...IMAGE_LIMITS, bytes: 2000 };
    const images = createImageStore({ home: tempFolder(), limits });
    const large = await addImage(images, [{ name: 'a', text: 'x'.repeat(2001) }]);
    const linked = await addImage(images, [
      { name: 'a', text: 'x'.repeat(900) },
      ...['b', 'c', 'd'].map((name) => hard(name, 'a')),
    ]);
    for (const digest of [large, linked]) {
      const image = await images.find(digest);
      const error = await failureOf(images.rootfs(image ?? expect.fail()));
      expect(error.message).toContain('more than 2000 bytes');
    }
    expect(readdirSync(join(images.folder, 'rootfs'))).toEqual([]);
  });

  it.each(['dev', 'proc', 'sys'])('with a link or a file in place of /%s is refused', async (name) => {
    const images = createImageStore({ home: tempFolder() });
    for (const entry of [link(name, '/var'), { name, text: '' }]) {
      const image = await images.find(await addImage(images, [entry]));
      const error = await failureOf(images.rootfs(image ?? expect.fail()));
      expect(error).toMatchObject({
        code: 'manifest_invalid',
        message: expect.stringContaining(`its /${name} is a`) as string,
      });
    }
    const valid = await images.find(await addImage(images, [folder(name)]));
    expect(await images.rootfs(valid ?? expect.fail())).toContain('rootfs');
  });

  it('with too many layers is refused', async () => {
    const images = createImageStore({ home: tempFolder(), limits: { ...IMAGE_LIMITS, layers: 0 } });
    expect((await failureOf(addImage(images, []))).message).toContain('1 layers, more than 0');
  });
});

describe('unpacking an image', () => {
  it('writes plain files that the user of the cell can read', async () => {
    const target = tempFolder();
    const odd = Buffer.from([0xff, 0xfe, 0x41]).toString('latin1');
    const tree = await treeOf([
      [
        { name: 'bin/run', mode: 0o4750, uid: 7, text: '#!' },
        { name: 'secret', mode: 0, text: 's' },
        { name: odd, text: 'odd' },
        hard('again', 'secret'),
        link('abs', '/etc/passwd'),
        folder('tmp', 0o1777),
        folder('open', 0o777),
      ],
    ]);
    await writeTree(tree, target);
    const mode = (path: string): string => (lstatSync(join(target, path)).mode & 0o7777).toString(8);
    expect(['bin', 'bin/run', 'secret', '.'].map(mode)).toEqual(['755', '755', '644', '755']);
    expect(['tmp', 'open'].map(mode)).toEqual(['1777', '755']);
    expect(readFileSync(join(target, 'again'), 'utf8')).toBe('s');
    expect(readlinkSync(join(target, 'abs'))).toBe('/etc/passwd');
    expect(statSync(join(target, 'bin/run')).uid).toBe(process.getuid?.());
    expect(readdirSync(target, { encoding: 'buffer' }).map(String)).toHaveLength(7);
    expect(
      readFileSync(Buffer.concat([Buffer.from(`${target}/`), Buffer.from([0xff, 0xfe, 0x41])]), 'utf8'),
    ).toBe('odd');
  });

  it('never touches files outside of its folder, whatever the archive contains', async () => {
    const part = fc.constantFrom('a', 'b', '..', '.', '', 'etc', '.wh.a', '.wh..wh..opq', 'out');
    const path = fc.array(part, { minLength: 1, maxLength: 5 }).map((parts) => parts.join('/'));
    const target = fc.oneof(
      path,
      path.map((one) => `/${one}`),
      fc.constantFrom('../out', '../../out', '../../../../out'),
    );
    const entry = fc.record({
      name: fc.oneof(
        path,
        path.map((one) => `/${one}`),
      ),
      type: fc.constantFrom('0', '1', '2', '5', '3'),
      linkName: target,
      text: fc.constant(''),
      mode: fc.nat(0o7777),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(entry, { maxLength: 8 }), { maxLength: 3 }), async (layers) => {
        const around = tempFolder();
        for (const name of ['out', 'root']) mkdirSync(join(around, name));
        writeFileSync(join(around, 'out/sentinel'), 'untouched');
        try {
          await writeTree(await treeOf(layers), join(around, 'root'));
        } catch (error) {
          expect(error).toBeInstanceOf(SkillError);
        }
        expect(readdirSync(around).toSorted()).toEqual(['out', 'root']);
        expect(readdirSync(join(around, 'out'))).toEqual(['sentinel']);
        expect(readFileSync(join(around, 'out/sentinel'), 'utf8')).toBe('untouched');
      }),
      { numRuns: 150 },
    );
  });
});
