import { spawnSync } from 'node:child_process';
import { linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { emptyFolder, FileTree } from '../../../src/cell/images/file-tree.ts';
import { applyLayer, writeLayer } from '../../../src/cell/images/layers.ts';
import { decodeHeader, encodeHeader } from '../../../src/cell/images/tar-header.ts';
import { decodePax, readTar } from '../../../src/cell/images/tar-reader.ts';
import { SkillError } from '../../../src/errors.ts';
import { failureOf, listing, tarOf, tempFile, tempFolder } from './helpers.ts';

/** File names: any bytes except zero and slash. */
const name = fc
  .string({
    unit: fc.integer({ min: 1, max: 255 }).map((byte) => String.fromCharCode(byte)),
    minLength: 1,
    maxLength: 130,
  })
  .filter((text) => !/^\.{1,2}$|\/|^\.wh\./.test(text));
const owner = { uid: fc.nat(4_000_000_000), gid: fc.nat(4_000_000_000) };
const leaf = fc.oneof(
  fc.record({
    kind: fc.constant('file' as const),
    mode: fc.nat(0o777),
    content: fc.uint8Array({ maxLength: 700 }).map((bytes) => Buffer.from(bytes)),
    ...owner,
  }),
  fc.record({
    kind: fc.constant('link' as const),
    target: fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 200 }),
    ...owner,
  }),
);
const files = fc.array(fc.tuple(fc.array(name, { minLength: 1, maxLength: 4 }), leaf), { maxLength: 12 });

async function bytesOf(tree: FileTree): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of writeLayer(tree)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function treeWith(entries: readonly [string[], Parameters<FileTree['put']>[1]][]): FileTree {
  const tree = new FileTree();
  for (const [path, node] of entries) {
    // A random path may go through a file, which is refused.
    try {
      tree.put(path.join('/'), node);
    } catch (error) {
      expect(error).toBeInstanceOf(SkillError);
    }
  }
  return tree;
}

it('a written layer reads back as the same tree, which writes the same bytes again', async () => {
  await fc.assert(
    fc.asyncProperty(files, async (entries) => {
      const tree = treeWith(entries);
      const bytes = await bytesOf(tree);
      const again = new FileTree();
      await applyLayer(again, tempFile(bytes));
      expect(await listing(again)).toEqual(await listing(tree));
      expect(await bytesOf(again)).toEqual(bytes);
    }),
    { numRuns: 60 },
  );
});

it('a layer does not depend on the order in which files were added', async () => {
  const [a, b] = [new FileTree(), new FileTree()];
  const file = (text: string) => ({
    kind: 'file' as const,
    mode: 0o644,
    uid: 0,
    gid: 0,
    content: Buffer.from(text),
  });
  for (const path of ['b', 'a/c', 'a/b']) a.put(path, file(path));
  for (const path of ['a/b', 'b', 'a/c']) b.put(path, file(path));
  expect(await bytesOf(a)).toEqual(await bytesOf(b));
});

it('any bytes are read as an archive or rejected with a SkillError', async () => {
  const honest = tarOf([
    { name: 'a', text: 'hello' },
    { name: `${'x'.repeat(90)}/${'y'.repeat(120)}`, text: 'z' },
  ]);
  const damaged = fc
    .tuple(fc.nat(honest.length - 1), fc.nat(255), fc.nat(honest.length))
    .map(([at, byte, cut]) => {
      const bytes = Buffer.from(honest);
      bytes[at] = byte;
      return bytes.subarray(0, cut);
    });
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        damaged,
        fc.uint8Array({ maxLength: 1600 }).map((bytes) => Buffer.from(bytes)),
      ),
      async (bytes) => {
        try {
          await applyLayer(new FileTree(), tempFile(bytes));
        } catch (error) {
          expect(error).toBeInstanceOf(SkillError);
          expect(['manifest_invalid', 'skill_unavailable']).toContain((error as SkillError).code);
        }
      },
    ),
    { numRuns: 150 },
  );
});

it('a decoded header has every field of the encoded one', () => {
  const number = fc.nat(8 ** 7 - 1);
  const header = fc.record({
    type: fc.constantFrom('0', '1', '2', '5'),
    name: fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 100 }),
    linkName: fc.string({ unit: 'grapheme-ascii', maxLength: 100 }),
    mode: fc.nat(0o7777),
    uid: number,
    gid: number,
    size: fc.nat(8 ** 11 - 1),
  });
  fc.assert(
    fc.property(header, (fields) => {
      expect(decodeHeader(encodeHeader(fields))).toEqual(fields);
    }),
  );
});

it.each(['gnu', 'pax', 'ustar'])('an archive of GNU tar in the format %s is read', async (format) => {
  const folder = tempFolder();
  const deep = join(folder, 'in', ...Array.from({ length: 4 }, () => 'a-folder-with-quite-a-name'));
  mkdirSync(deep, { recursive: true });
  writeFileSync(join(deep, 'ö'.repeat(30)), 'deep');
  writeFileSync(join(folder, 'in/plain'), 'plain', { mode: 0o755 });
  linkSync(join(folder, 'in/plain'), join(folder, 'in/same'));
  symlinkSync('plain', join(folder, 'in/link'));
  const file = join(folder, 'out.tar');
  const made = spawnSync('tar', [
    `--format=${format}`,
    '--owner=0',
    '--group=0',
    '-C',
    join(folder, 'in'),
    '-cf',
    file,
    '.',
  ]);
  expect(made.status).toBe(0);
  const tree = new FileTree();
  await applyLayer(tree, file);
  const lines = await listing(tree);
  expect(lines).toEqual(
    expect.arrayContaining(['link -> plain', 'plain file 755 0:0 plain', 'same file 755 0:0 plain']),
  );
  expect(lines.some((line) => line.endsWith('644 0:0 deep'))).toBe(true);
});

it('GNU tar reads the archives that we write', async () => {
  const tree = new FileTree();
  tree.put('folder', emptyFolder(0o711));
  tree.put(`folder/${'n'.repeat(150)}`, {
    kind: 'file',
    mode: 0o640,
    uid: 5_000_000,
    gid: 7,
    content: Buffer.from('x'),
  });
  tree.put('link', { kind: 'link', target: 't'.repeat(130), uid: 0, gid: 0 });
  const listed = spawnSync('tar', ['--numeric-owner', '-tvf', tempFile(await bytesOf(tree))], {
    encoding: 'utf8',
  });
  expect(listed.stderr).toBe('');
  expect(listed.stdout).toMatch(/^-rw-r----- 5000000\/7 +1 1970-01-01 00:00 folder\/n{150}$/m);
  expect(listed.stdout).toContain(`link -> ${'t'.repeat(130)}`);
});

it('sparse files and extended headers that are too long or malformed are refused', async () => {
  expect(
    (await failureOf(collect(tarOf([{ name: 'x', type: 'x', text: '26 GNU.sparse.major=1.0.0\n' }]))))
      .message,
  ).toContain('sparse');
  expect(
    (await failureOf(collect(tarOf([{ name: 'x', type: 'x', text: 'x'.repeat(70_000) }])))).message,
  ).toContain('too long');
  for (const text of [
    '',
    '5 a',
    '99 path=a\n',
    '9 path=ab',
    'x path=a\n',
    '-1 a=b\n',
    '0 a=b\n',
    '11 size=-1\n',
  ]) {
    if (text === '') expect(decodePax(text)).toEqual({});
    else expect(() => decodePax(text), text).toThrow('extended header');
  }
});

it('an archive that ends within an entry is reported as damaged', async () => {
  const whole = tarOf([{ name: 'a', text: 'x'.repeat(600) }]);
  for (const length of [512, 700, 1100])
    expect((await failureOf(collect(whole.subarray(0, length)))).message).toContain('ends');
});

async function collect(bytes: Buffer): Promise<void> {
  for await (const entry of readTar(tempFile(bytes))) expect(entry.name).not.toBe('');
}
