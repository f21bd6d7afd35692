import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { digestFiles } from '../../src/load/digest.ts';
import { BUNDLE_LIMITS, readBundle, readEverything } from '../../src/load/read-bundle.ts';
import { errorOf, tempDir, tempTree, writeTree } from './helpers.ts';

const segment = fc.stringMatching(/^[a-zé0-9_]{1,8}$/);
const fileTree = fc.dictionary(
  fc.array(segment, { minLength: 1, maxLength: 3 }).map((parts) => `${parts.join('/')}.txt`),
  fc.string({ unit: 'binary', maxLength: 40 }),
  { maxKeys: 8 },
);

describe('readBundle', () => {
  test('returns every file with its bytes and digests', () => {
    const dir = tempTree({ 'skill.py': 'x = 1\n', 'data/list.json': '[]' });
    const bundle = readBundle(dir);
    expect(Object.keys(bundle.files)).toEqual(['data/list.json', 'skill.py']);
    expect(bundle.contents.get('skill.py')?.toString()).toBe('x = 1\n');
    expect(bundle.files['data/list.json']).toBe(
      '4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945',
    );
    expect(bundle.digest).toMatch(/^sha256:[0-9a-f]{64}$/);
  });

  test('leaves out the files of tools and the lock itself, and nothing else', () => {
    const dir = tempTree({
      'skill.py': '',
      'data/venv.txt': '',
      '.hidden': '',
      'sub/skill.lock': '',
    });
    const before = readBundle(dir);
    writeTree(dir, { '.git/config': 'x', 'sub/__pycache__/a.pyc': 'x', 'skill.lock': 'the lock' });
    writeTree(dir, {
      'node_modules/a/index.js': 'x',
      '.venv/bin/python': 'x',
      '.DS_Store': 'x',
      'a.pyc': 'x',
    });
    symlinkSync('/usr/bin/python3', join(dir, '.venv/bin/python3'));
    symlinkSync('/nowhere', join(dir, 'sub/node_modules'));
    const after = readBundle(dir);
    expect(Object.keys(after.files)).toEqual(['.hidden', 'data/venv.txt', 'skill.py', 'sub/skill.lock']);
    expect(after.digest).toBe(before.digest);
    expect(after.lock?.toString()).toBe('the lock');
    expect(before.lock).toBeUndefined();
    const copy = tempTree({ 'skill.py': '', 'sub/__pycache__/a.pyc': '' });
    expect(Object.keys(readEverything(copy).files)).toContain('sub/__pycache__/a.pyc');
  });

  test('computes a digest that depends only on paths and bytes', () => {
    fc.assert(
      fc.property(fileTree, (tree) => {
        const entries = Object.entries(tree);
        const one = tempTree(tree);
        const other = tempTree(Object.fromEntries(entries.reverse()));
        for (const path of Object.keys(tree)) utimesSync(join(other, path), 1, 1);
        const { digest, files } = readBundle(one);
        expect(readBundle(other).digest).toBe(digest);
        expect(digestFiles(files)).toBe(digest);
      }),
      { numRuns: 30 },
    );
  });

  test('computes another digest after any change of one byte or one name', () => {
    const digestOf = (tree: Record<string, string>): string => readBundle(tempTree(tree)).digest;
    const digests = [
      { a: 'x', b: 'y' },
      { a: 'y', b: 'x' },
      { a: 'x', c: 'y' },
      { a: 'x' },
      { a: 'xy', b: '' },
    ];
    expect(new Set(digests.map(digestOf)).size).toBe(digests.length);
  });

  test('reads an empty file and an empty folder', () => {
    const dir = tempTree({ 'empty.txt': '' });
    mkdirSync(join(dir, 'nothing'));
    expect([...readBundle(dir).contents.keys()]).toEqual(['empty.txt']);
  });
});

describe('readBundle in an Agent Skills folder', () => {
  test('leaves links out with a warning, and follows none', () => {
    const dir = tempTree({ 'SKILL.md': 'x', 'sub/a.txt': '' });
    const before = readBundle(dir).digest;
    symlinkSync('/etc/passwd', join(dir, 'sub/link'));
    symlinkSync('..', join(dir, 'loop'));
    const { contents, digest, warnings } = readBundle(dir);
    expect([...contents.keys()].toSorted()).toEqual(['SKILL.md', 'sub/a.txt']);
    expect(digest).toBe(before);
    expect(warnings).toEqual([
      'The symbolic link "loop" was left out of the bundle, because links are not followed.',
      'The symbolic link "sub/link" was left out of the bundle, because links are not followed.',
    ]);
  });

  test.each(['manifest.yaml', 'skill.lock', 'skill.sig', '.skillcellignore'])(
    'refuses a link in the place of %s',
    (name) => {
      const dir = tempTree({ 'SKILL.md': 'x', other: '' });
      symlinkSync('other', join(dir, name));
      expect(errorOf(() => readBundle(dir)).message).toContain(`"${name}": a symbolic link`);
    },
  );
});

describe('readBundle refuses', () => {
  test.each([
    ['a link to a file', '/etc/passwd'],
    ['a link to a folder', '/etc'],
    ['a link to itself', 'sub/link'],
    ['a link that leads nowhere', 'missing'],
    ['a link to a file of the bundle', '../skill.py'],
  ])('%s', (_, target) => {
    const dir = tempTree({ 'skill.py': '', 'sub/a.txt': '' });
    symlinkSync(target, join(dir, 'sub/link'));
    const error = errorOf(() => readBundle(dir));
    expect(error.code).toBe('manifest_invalid');
    expect(error.message).toContain('"sub/link": a symbolic link');
  });

  test('a bundle folder that is itself a link', () => {
    const dir = tempDir();
    symlinkSync(tempTree({ 'skill.py': '' }), join(dir, 'link'));
    expect(errorOf(() => readBundle(join(dir, 'link'))).code).toBe('manifest_invalid');
  });

  test('a missing folder', () => {
    expect(errorOf(() => readBundle(join(tempDir(), 'missing'))).message).toContain('ENOENT');
  });

  test('a named pipe, without waiting for a writer', () => {
    const dir = tempTree({ 'skill.py': '' });
    expect(spawnSync('mkfifo', [join(dir, 'pipe')]).status).toBe(0);
    expect(errorOf(() => readBundle(dir)).message).toContain('"pipe": a named pipe');
  });

  test('a socket', async () => {
    const dir = tempTree({ 'skill.py': '' });
    const server = createServer();
    await new Promise<void>((done) => server.listen(join(dir, 'sock'), done));
    try {
      expect(errorOf(() => readBundle(dir)).message).toContain('"sock": a socket');
    } finally {
      server.close();
    }
  });

  test('names with control or invisible characters', () => {
    const zeroWidth = String.fromCodePoint(0x200b);
    const rightToLeft = String.fromCodePoint(0x202e);
    for (const name of [
      'a\nb',
      'a\tb',
      'a\\b',
      'a\u0085b',
      `a${zeroWidth}b`,
      `a${rightToLeft}b`,
      '__proto__',
    ]) {
      const dir = tempDir();
      writeFileSync(join(dir, name), '');
      const error = errorOf(() => readBundle(dir));
      expect(error.code).toBe('manifest_invalid');
      expect(error.detail['file']).toBe(name);
      expect(error.message).toMatch(/^[ -~]+$/);
    }
  });

  test('a name that is not UTF-8', () => {
    const dir = tempDir();
    writeFileSync(Buffer.concat([Buffer.from(`${dir}/bad`), Buffer.from([0xff])]), '');
    expect(errorOf(() => readBundle(dir)).message).toContain('not valid UTF-8');
  });

  test('a path over the length limit', () => {
    const long = 'n'.repeat(250);
    const dir = tempTree({ [`${[long, long, long, long].join('/')}/${'m'.repeat(30)}`]: '' });
    expect(errorOf(() => readBundle(dir)).message).toContain('a path over 1024 bytes');
  });

  test('folders nested beyond the limit, but not those at the limit', () => {
    const nested = (depth: number): string => `${'d/'.repeat(depth)}file`;
    expect(readBundle(tempTree({ [nested(BUNDLE_LIMITS.depth)]: '' })).contents.size).toBe(1);
    const error = errorOf(() => readBundle(tempTree({ [nested(BUNDLE_LIMITS.depth + 1)]: '' })));
    expect(error.message).toContain('nested deeper');
  });

  test('too many files', () => {
    const dir = tempDir();
    for (let index = 0; index < BUNDLE_LIMITS.files; index += 1) writeFileSync(join(dir, `f${index}`), '');
    expect(readBundle(dir).contents.size).toBe(BUNDLE_LIMITS.files);
    for (const about of ['skill.lock', 'skill.sig']) writeFileSync(join(dir, about), '');
    expect(readBundle(dir).contents.size).toBe(BUNDLE_LIMITS.files);
    writeFileSync(join(dir, 'one-more'), '');
    expect(errorOf(() => readBundle(dir)).message).toContain('more than 2000 files');
  });

  test('too many bytes, before reading them', () => {
    const dir = tempTree({ 'a.bin': '', 'b.bin': 'b' });
    truncateSync(join(dir, 'a.bin'), BUNDLE_LIMITS.totalBytes);
    expect(errorOf(() => readBundle(dir)).message).toContain('bytes in total');
    // A sparse file: a terabyte that takes no disk space.
    truncateSync(join(dir, 'a.bin'), 2 ** 40);
    expect(errorOf(() => readBundle(dir)).detail['file']).toBe('a.bin');
  });
});

/** Swaps a folder with a link to the outside as fast as possible, for at most ten seconds. */
const SWAPPER = `
  const fs = require('node:fs');
  const [dir, outside] = process.argv.slice(1);
  fs.symlinkSync(outside, dir + '/link');
  process.stdout.write('swapping');
  const end = Date.now() + 10_000;
  while (Date.now() < end) {
    for (let i = 0; i < 200; i += 1) {
      fs.renameSync(dir + '/bundle/data', dir + '/kept');
      fs.renameSync(dir + '/link', dir + '/bundle/data');
      fs.renameSync(dir + '/bundle/data', dir + '/link');
      fs.renameSync(dir + '/kept', dir + '/bundle/data');
    }
  }`;

test('readBundle never follows a folder that is swapped for a link during the read', async () => {
  const outside = tempTree({ 'secret.txt': 'invented secret', 'list.txt': 'invented secret' });
  const dir = tempTree({ 'bundle/skill.py': '', 'bundle/data/list.txt': 'inside' });
  const swapper = spawn(process.execPath, ['-e', SWAPPER, dir, outside], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = new Promise((done) => swapper.once('exit', done));
  let [whole, refused, torn] = [0, 0, 0];
  try {
    await new Promise((done) => swapper.stdout.once('data', done));
    for (let round = 0; round < 3000; round += 1) {
      try {
        const { contents } = readBundle(join(dir, 'bundle'));
        expect([...contents.values()].map(String)).not.toContain('invented secret');
        if (contents.has('data/list.txt')) whole += 1;
        else torn += 1;
      } catch (error) {
        expect(error).toMatchObject({ code: 'manifest_invalid' });
        refused += 1;
      }
    }
  } finally {
    swapper.kill('SIGKILL');
    await exited;
  }
  // The race did happen: the reader saw both the folder and the link.
  expect(whole).toBeGreaterThan(0);
  expect(refused + torn).toBeGreaterThan(0);
});
