/** Archives of the usual programs are read; everything that two programs could read differently is refused. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { readArchive, type ReadArchiveOptions } from '../../../src/distribution/archives/read-archive.ts';
import { SkillError } from '../../../src/errors.ts';
import { tarOf, type Entry } from '../../cell/images/helpers.ts';
import { BLOCK, encodeHeader } from '../../../src/cell/images/tar-header.ts';
import { fields, withFiles, zipWith, type ZipEntry, type ZipLies } from './archives.ts';

const FILES = {
  'SKILL.md': '---\nname: demo\n---\n',
  'scripts/run.sh': 'echo hello\n',
  'data/größe.bin': Buffer.from([0, 1, 2, 255]),
  'empty.txt': '',
};

const read = async (
  bytes: Buffer,
  options: Partial<ReadArchiveOptions> = {},
): Promise<Record<string, Buffer>> => {
  const { files } = await readArchive(bytes, { what: 'The archive', ...options });
  return Object.fromEntries(files);
};

const expected = (files: Readonly<Record<string, string | Buffer>>): Record<string, Buffer> =>
  Object.fromEntries(Object.entries(files).map(([path, content]) => [path, Buffer.from(content)]));

async function refusalOf(bytes: Buffer, options: Partial<ReadArchiveOptions> = {}): Promise<string> {
  const refused = await read(bytes, options).then(
    (files) => `delivered ${Object.keys(files).join(', ')}`,
    (error: unknown) => error,
  );
  if (!(refused instanceof SkillError)) throw new Error(String(refused));
  expect(refused.code).toBe('manifest_invalid');
  return refused.message;
}

describe('archives of other programs', () => {
  const archive = (program: string, args: readonly string[], name: string): Buffer =>
    readFileSync(join(withFiles(FILES, program, args), name));

  test.each([
    ['tar', ['-cf', 'x.tar', ...Object.keys(FILES)]],
    ['tar --format=pax', ['--format=pax', '-cf', 'x.tar', ...Object.keys(FILES)]],
    ['tar --format=gnu', ['--format=gnu', '-cf', 'x.tar', ...Object.keys(FILES)]],
    ['tar of a folder', ['-cf', 'x.tar', '--exclude=x.tar', '.']],
    ['tar with gzip', ['-czf', 'x.tar', ...Object.keys(FILES)]],
    ['tar with zstd', ['--zstd', '-cf', 'x.tar', ...Object.keys(FILES)]],
  ])('reads what %s writes', async (_, args) => {
    expect(await read(archive('tar', args, 'x.tar'))).toEqual(expected(FILES));
  });

  test.each([
    ['zip', ['zip', '-qr', 'x.zip', '.']],
    ['zip without compression', ['zip', '-qr0', 'x.zip', '.']],
    [
      'zipfile',
      ['/usr/bin/python3', '-m', 'zipfile', '-c', 'x.zip', 'SKILL.md', 'scripts', 'data', 'empty.txt'],
    ],
  ])('reads what %s writes', async (_, [program = '', ...args]) => {
    expect(await read(archive(program, args, 'x.zip'))).toEqual(expected(FILES));
  });

  test('reads a zip file that was written to a pipe', async () => {
    const script =
      'import sys,zipfile\nz=zipfile.ZipFile(open("x.zip","wb"),"w",8)\n' +
      'z.fp.seekable=lambda:False\n[z.write(p) for p in sys.argv[1:]]\nz.close()';
    const bytes = archive('/usr/bin/python3', ['-c', script, ...Object.keys(FILES)], 'x.zip');
    expect(await read(bytes)).toEqual(expected(FILES));
  });

  test('reads long paths, which need an extended header', async () => {
    const path = `${'long folder name/'.repeat(14)}${'x'.repeat(120)}.txt`;
    for (const format of ['gnu', 'pax']) {
      const folder = withFiles({ [path]: 'far' }, 'tar', [
        `--format=${format}`,
        '-cf',
        'x.tar',
        'long folder name',
      ]);
      expect(await read(readFileSync(join(folder, 'x.tar')))).toEqual(expected({ [path]: 'far' }));
    }
  });

  test('reads a file on disk and a stream like bytes in memory', async () => {
    const file = join(withFiles(FILES, 'tar', ['-czf', 'x.tgz', ...Object.keys(FILES)]), 'x.tgz');
    const bytes = readFileSync(file);
    const bytewise = async function* (): AsyncGenerator<Buffer> {
      for (const byte of bytes) yield Buffer.from([byte]);
    };
    for (const input of [{ file }, bytewise()]) {
      const { files, format } = await readArchive(input, { what: 'The archive' });
      expect(Object.fromEntries(files)).toEqual(expected(FILES));
      expect(format).toBe('tar+gzip');
    }
  });
});

describe('the top folder', () => {
  const inside = tarOf([
    { name: 'demo-1/', type: '5' },
    { name: 'demo-1/SKILL.md', text: 'a' },
    { name: 'demo-1/skills/one/SKILL.md', text: 'b' },
    { name: 'demo-1/skills/link', type: '2', linkName: '/etc/passwd' },
    { name: 'demo-1/skills/one-more/SKILL.md', text: 'c' },
  ]);

  test('is removed if everything is in it', async () => {
    const files = tarOf([
      { name: 'package/a', text: '1' },
      { name: 'package/b/c', text: '2' },
    ]);
    expect(await read(files, { top: 'remove' })).toEqual(expected({ a: '1', 'b/c': '2' }));
    expect(await read(files, { top: 'keep' })).toEqual(expected({ 'package/a': '1', 'package/b/c': '2' }));
    const two = tarOf([
      { name: 'package/a', text: '1' },
      { name: 'other/b', text: '2' },
    ]);
    expect(await refusalOf(two, { top: 'remove' })).toContain('not in the one folder');
    expect(await refusalOf(tarOf([{ name: 'a', text: '1' }]), { top: 'remove' })).toContain(
      'a file stands where',
    );
  });

  test('is found if the skill is in it and not at the root', async () => {
    const nested = tarOf([
      { name: 'demo/SKILL.md', text: 'a' },
      { name: 'demo/x', text: 'b' },
    ]);
    expect(Object.keys(await read(nested, { top: 'find' }))).toEqual(['SKILL.md', 'x']);
    const flat = tarOf([{ name: 'SKILL.md', text: 'a' }]);
    expect(Object.keys(await read(flat, { top: 'find' }))).toEqual(['SKILL.md']);
    const neither = tarOf([
      { name: 'a/SKILL.md', text: 'a' },
      { name: 'b/x', text: 'b' },
    ]);
    expect(Object.keys(await read(neither, { top: 'find' }))).toEqual(['a/SKILL.md', 'b/x']);
  });

  test('and a folder inside can be selected; what is elsewhere does not matter', async () => {
    const options = { top: 'remove', below: 'skills/one' } as const;
    expect(await read(inside, options)).toEqual(expected({ 'SKILL.md': 'b' }));
    expect(await refusalOf(inside, { top: 'remove', below: 'skills/two' })).toContain(
      'no folder "skills/two"',
    );
    expect(await refusalOf(inside, { top: 'remove', below: 'skills' })).toContain('a symbolic link');
    expect(await refusalOf(inside, { top: 'remove', below: 'skills/link' })).toContain('a symbolic link');
  });
});

const FILE: Entry = { name: 'SKILL.md', text: 'skill' };
const pax = (text: string, type = 'x'): Entry => ({ name: 'pax', type, text });
const record = (key: string, value: string): string => {
  const rest = ` ${key}=${value}\n`;
  let length = rest.length;
  while (length !== rest.length + String(length).length) length = rest.length + String(length).length;
  return `${length}${rest}`;
};
const many = (count: number): Entry[] =>
  Array.from({ length: count }, (_, n) => ({ name: `f${n}`, text: '' }));

describe('a hostile tar archive', () => {
  test.each<[what: string, entries: Entry[], words: string]>([
    ['a symbolic link', [{ name: 'a', type: '2', linkName: '/etc/passwd' }], 'a symbolic link'],
    ['a hard link', [FILE, { name: 'a', type: '1', linkName: 'SKILL.md' }], 'a hard link'],
    ['a device', [{ name: 'a', type: '3' }], 'a device'],
    ['a named pipe', [{ name: 'a', type: '6' }], 'a named pipe'],
    ['a sparse file', [{ name: 'a', type: 'S' }], 'a sparse file'],
    ['an unknown type', [{ name: 'a', type: 'Q' }], 'neither a file nor a folder'],
    ['a climbing path', [{ name: '../a' }], 'climbs out'],
    ['a path that climbs later', [{ name: 'a/../../b' }], 'climbs out'],
    ['an absolute path', [{ name: '/etc/passwd' }], 'an absolute path'],
    ['a doubled slash', [{ name: 'a//b' }], 'an empty part'],
    ['a dot in a path', [{ name: 'a/./b' }], 'an empty part'],
    ['a file that ends like a folder', [{ name: 'a/' }], 'an empty part'],
    ['a file twice', [FILE, FILE], 'it is there twice'],
    ['names that differ by case', [{ name: 'A' }, { name: 'a' }], 'the same as "A" on some file systems'],
    ['folders that differ by case', [{ name: 'A/x' }, { name: 'a/y' }], 'the same as "A"'],
    ['names that differ by composition', [latin('\u00e9'), latin('e\u0301')], 'on some file systems'],
    ['names that differ by compatibility', [latin('\ufb01'), latin('fi')], 'on some file systems'],
    ['a file and a folder of one name', [{ name: 'a' }, { name: 'a/b' }], 'a file and a folder at once'],
    ['a folder and a file of one name', [{ name: 'a/b' }, { name: 'a' }], 'a file and a folder at once'],
    ['a control character', [{ name: 'a\u001b[2J' }], 'control, invisible or backslash'],
    ['a right-to-left override', [latin('a\u202egpj.exe')], 'control, invisible or backslash'],
    ['a backslash', [{ name: 'a\\..\\b' }], 'control, invisible or backslash'],
    ['a name that is not UTF-8', [{ name: 'a\u00ff' }], 'not valid UTF-8'],
    ['the name of the prototype', [{ name: '__proto__' }], 'a reserved name'],
    ['a long name', [{ name: 'x'.repeat(256) }], 'a name over 255 bytes'],
    ['a long path', [{ name: `${'x'.repeat(200)}/`.repeat(6) + 'y' }], 'a path over 1024 bytes'],
    ['deep folders', [{ name: 'a/'.repeat(17) + 'b' }], 'deeper than 16 folders'],
    ['too many files', many(2003), 'more than 2002 files'],
    ['a folder with content', [{ name: 'a', type: '5', text: 'x' }], 'a folder with content'],
    ['a link with content', [{ name: 'elsewhere/a', type: '2', text: 'x' }], 'a symbolic link'],
    ['another size in pax', [pax(record('size', '1')), FILE], 'two different sizes'],
    ['a name for all entries', [pax(record('path', 'b'), 'g'), FILE], 'changes "path" of every entry'],
    ['a size for all entries', [pax(record('size', '0'), 'g'), FILE], 'changes "size" of every entry'],
    ['sparse files in pax', [pax(record('GNU.sparse.realsize', '9')), FILE], 'sparse files'],
    ['another character set', [pax(record('hdrcharset', 'BINARY')), FILE], 'another character set'],
    ['two names in pax', [pax(record('path', 'b') + record('path', 'c')), FILE], 'says "path" twice'],
    ['two long names', [pax(record('path', 'b')), { name: 'L', type: 'L', text: 'c\0' }, FILE], 'two names'],
    ['a zero byte in a name', [pax(record('path', 'b\0c')), FILE], 'a zero byte'],
    ['a climbing name in pax', [pax(record('path', '../b')), FILE], 'climbs out'],
    ['a record that lies about its length', [pax('99 path=b\n'), FILE], 'a malformed extended header'],
    ['a record without a length', [pax('path=b\n'), FILE], 'a malformed extended header'],
    ['a description of nothing', [FILE, pax(record('path', 'b'))], 'an entry that is not there'],
    ['a long extended header', [pax('x'.repeat(70_000)), FILE], 'too long'],
  ])('with %s is refused', async (_, entries, words) => {
    expect(await refusalOf(tarOf(entries))).toContain(words);
  });

  test('that is damaged is refused', async () => {
    const whole = tarOf([FILE]);
    expect(await refusalOf(whole.subarray(0, BLOCK + 2))).toContain('ends within this file');
    expect(await refusalOf(whole.subarray(0, 2 * BLOCK))).toContain('ends early');
    expect(await refusalOf(Buffer.concat([whole, whole]))).toContain('other bytes after its end');
    const flipped = Buffer.from(whole);
    flipped[0] = 0x41;
    expect(await refusalOf(flipped)).toContain('not a valid tar archive');
    expect(await refusalOf(tarOf([]))).toContain('not an archive');
  });

  test('that says it is endless is refused before it is read', async () => {
    const header = encodeHeader({
      type: '0',
      name: 'a',
      linkName: '',
      mode: 0,
      uid: 0,
      gid: 0,
      size: 8 ** 11 - 1,
    });
    expect(await refusalOf(header)).toContain('more than 67108864 bytes');
  });
});

function latin(name: string): Entry {
  return { name: Buffer.from(name).toString('latin1') };
}

describe('a compressed archive', () => {
  test('that grows beyond the limits is stopped', async () => {
    const limits = {
      files: 2000,
      bytes: 2 ** 20,
      entries: 100,
      packedBytes: 2 ** 20,
      unpackedBytes: 2 ** 20,
    };
    const large = tarOf([{ name: 'a', text: Buffer.alloc(2 ** 20) }]);
    for (const packed of [gzipSync(large), zstdCompressSync(large)])
      expect(await refusalOf(packed, { limits })).toContain('more than 1048576 bytes after decompression');
    expect(await refusalOf(large, { limits })).toContain('it has more than 1048576 bytes');
  });

  test('with a gigabyte of zeros is stopped without much memory', async () => {
    const block = gzipSync(Buffer.alloc(64 * 2 ** 20));
    const bomb = Buffer.concat([gzipSync(tarOf([FILE])), ...Array.from({ length: 16 }, () => block)]);
    const before = process.memoryUsage().rss;
    expect(await refusalOf(bomb)).toContain('after decompression');
    expect(process.memoryUsage().rss - before).toBeLessThan(400 * 2 ** 20);
  });

  test('that is damaged, cut or followed by other bytes is refused', async () => {
    const tar = tarOf([FILE]);
    for (const pack of [gzipSync, zstdCompressSync]) {
      const packed = pack(tar);
      expect(await refusalOf(packed.subarray(0, -5))).toMatch(/decompressed|ends/);
      expect(await refusalOf(Buffer.concat([packed, Buffer.from('rest of it')]))).toMatch(
        /decompressed|other bytes/,
      );
      expect(await refusalOf(pack(Buffer.from('no tar in here'.repeat(100))))).toContain('not a valid tar');
    }
  });

  test('is refused if another format is expected', async () => {
    expect(await refusalOf(gzipSync(tarOf([FILE])), { format: 'zip' })).toContain('it is not zip');
    expect(await refusalOf(Buffer.from('<!doctype html><html>'))).toContain('a web page');
    expect(await refusalOf(Buffer.alloc(0))).toContain('not an archive');
  });
});

const ONE: ZipEntry = { name: 'SKILL.md', content: 'skill' };
const UNIX = (mode: number): number => mode * 0x10000;
const zip64 = Buffer.concat([
  fields([
    [1, 2],
    [16, 2],
  ]),
  Buffer.alloc(16),
]);
const CRC_OF_SKILL = 0x4d6c8e5a;

describe('a hostile zip file', () => {
  test.each<[what: string, entries: ZipEntry[], words: string, lies?: ZipLies]>([
    ['a symbolic link', [{ ...ONE, attributes: UNIX(0o120777) }], 'a symbolic link'],
    ['a device', [{ ...ONE, attributes: UNIX(0o020666) }], 'a device'],
    ['a climbing path', [{ ...ONE, name: '../a' }], 'climbs out'],
    ['an absolute path', [{ ...ONE, name: '/a' }], 'an absolute path'],
    ['a backslash', [{ ...ONE, name: '..\\a' }], 'backslash'],
    ['a file twice', [ONE, ONE], 'it is there twice'],
    ['names that differ by case', [ONE, { ...ONE, name: 'skill.MD' }], 'on some file systems'],
    ['a name that is not UTF-8', [{ ...ONE, name: Buffer.from([0x81]) }], 'not valid UTF-8'],
    ['an encrypted entry', [{ ...ONE, flags: 1 }], 'encrypted'],
    ['strong encryption', [{ ...ONE, flags: 0x40 }], 'encryption'],
    ['another method', [{ ...ONE, method: 12 }], 'another method|other than deflate'],
    ['another name in the directory', [{ ...ONE, central: { name: 'skill.md' } }], 'two different names'],
    ['another checksum in the directory', [{ ...ONE, central: { crc: 1 } }], 'different sizes or checksums'],
    ['another size in the directory', [{ ...ONE, central: { size: 4 } }], 'different sizes or checksums'],
    ['other flags in the directory', [{ ...ONE, central: { flags: 2 } }], 'two headers differ'],
    ['a wrong checksum', [{ ...ONE, crc: CRC_OF_SKILL }], 'its checksum is wrong'],
    ['more bytes than it says', [{ ...ONE, size: 4 }], 'another size than it says'],
    ['fewer bytes than it says', [{ ...ONE, size: 6 }], 'another size than it says'],
    ['a zip64 header', [{ ...ONE, extra: zip64 }], 'zip64'],
    ['a zip64 header in the directory', [{ ...ONE, centralExtra: zip64 }], 'zip64'],
    ['a folder with content', [{ ...ONE, name: 'a/' }], 'a folder with content'],
    ['a folder without a slash', [{ ...ONE, attributes: UNIX(0o040755) }], 'a file and a folder at once'],
    ['data that is not deflate', [{ ...ONE, packed: Buffer.from([7, 7, 7]) }], 'cannot be decompressed'],
    ['a hidden entry', [ONE, { ...ONE, name: 'b' }], 'belong to no entry', { hidden: [1] }],
    ['a hidden entry in front', [ONE, { ...ONE, name: 'b' }], 'belong to no entry', { hidden: [0] }],
    ['bytes in front', [ONE], 'belong to no entry', { before: Buffer.from('PK\u0003\u0004 more') }],
    ['bytes before the directory', [ONE], 'belong to no entry', { beforeDirectory: Buffer.from('x') }],
    ['bytes before the end', [ONE], 'between its directory and its end', { beforeEnd: Buffer.from('x') }],
    ['bytes after the end', [ONE], 'not a valid zip file', { after: Buffer.from('x') }],
    ['a wrong count', [ONE], 'not a valid zip file|not as long', { count: 2 }],
    ['a wrong length of the directory', [ONE], 'not as long as it says', { directoryBytes: 1 }],
    ['two entries in one place', [ONE, { ...ONE, central: { offset: 0 } }], 'overlap'],
    ['no entries', [], 'it has no files'],
    ['a descriptor that lies', [{ ...ONE, flags: 8, descriptor: Buffer.alloc(12) }], 'belong to no entry'],
    ['too many files', many(2003).map(({ name }) => ({ name })), 'more than 2002 files'],
  ])('with %s is refused', async (...[, entries, words, lies]) => {
    expect(await refusalOf(zipWith(entries, lies))).toMatch(new RegExp(words));
  });

  test('in front of which something else stands is refused', async () => {
    expect(await refusalOf(zipWith([ONE], { before: Buffer.from('#!/bin/sh\n') }))).toContain(
      'not an archive',
    );
  });

  test('whose entries share compressed data is refused before it is decompressed', async () => {
    const honest = zipWith([{ name: 'a', content: Buffer.alloc(2 ** 20) }]);
    const sharing = Array.from({ length: 100 }, (_, n) => ({
      name: `f${n}`,
      content: 'x',
      central: { offset: 0 },
    }));
    expect(await refusalOf(zipWith(sharing))).toMatch(/overlap|different/);
    expect(Object.keys(await read(honest))).toEqual(['a']);
  });

  test('that says it unpacks to more than the limit is refused', async () => {
    const size = 67_108_865;
    expect(await refusalOf(zipWith([{ ...ONE, size }]))).toContain('more than 67108864 bytes');
  });
});
