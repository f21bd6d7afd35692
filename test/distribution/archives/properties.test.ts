/** Whatever the bytes are: a refusal with a code, or paths that are safe to join to a folder. */
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FileSet } from '../../../src/distribution/archives/file-set.ts';
import { parsePax } from '../../../src/distribution/archives/pax.ts';
import { readArchive } from '../../../src/distribution/archives/read-archive.ts';
import { SkillError } from '../../../src/errors.ts';
import { BLOCK } from '../../../src/cell/images/tar-header.ts';
import { TAR_END, tarHead, tarPadding } from '../../../src/cell/images/tar-writer.ts';
import { tempFolder, writeFiles, zipWith } from './archives.ts';

const TYPES = ['0', '0', '0', '0', '5', '1', '2', 'x', 'g', 'L', 'K', 'S', 'Q'];

/** Undefined if it was refused. */
async function filesOf(bytes: Buffer): Promise<Map<string, Buffer> | undefined> {
  try {
    return new Map((await readArchive(bytes, { what: 'The archive' })).files);
  } catch (error) {
    expect(error).toBeInstanceOf(SkillError);
    expect((error as SkillError).code).toBe('manifest_invalid');
    // oxlint-disable-next-line no-control-regex -- none may be in a message
    expect((error as SkillError).message).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
    return undefined;
  }
}

function assertSafe(files: ReadonlyMap<string, Buffer>): void {
  const folded = new Set<string>();
  for (const path of files.keys()) {
    expect(join('/skill', path)).toBe(`/skill/${path}`);
    expect(normalize(path)).toBe(path);
    expect(path).not.toMatch(/^$|^\/|[\p{Cc}\p{Cf}\\]/u);
    expect(Buffer.from(path).toString()).toBe(path);
    folded.add(path.normalize('NFKC').toLowerCase());
    // No file is also a folder.
    for (const other of files.keys()) expect(other.startsWith(`${path}/`)).toBe(false);
  }
  expect(folded.size).toBe(files.size);
}

const names = fc.oneof(
  fc.string({
    unit: fc.constantFrom('a', 'A', '/', '.', '..', 'é', 'e\u0301', '\\', '\u202e', ' ', 'ß'),
    maxLength: 8,
  }),
  fc.string({ unit: 'binary', maxLength: 6 }),
);
const contents = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes));

const tars = fc
  .array(fc.record({ name: names, type: fc.constantFrom(...TYPES), content: contents }), { maxLength: 5 })
  .map((entries) =>
    Buffer.concat([
      ...entries.flatMap(({ name, type, content }) => [
        tarHead({
          type,
          name: Buffer.from(name).toString('latin1').slice(0, 100),
          linkName: '',
          mode: 0,
          uid: 0,
          gid: 0,
          size: content.length,
        }),
        content,
        tarPadding(content.length),
      ]),
      TAR_END,
    ]),
  );
const zips = fc
  .array(
    fc.record({
      name: names,
      content: contents,
      flags: fc.constantFrom(0, 0, 0, 8, 0x800, 1),
      method: fc.constantFrom(0, 8),
      attributes: fc.constantFrom(0, 0, 0o100644 * 0x10000, 0o120777 * 0x10000, 0x10),
    }),
    { maxLength: 4 },
  )
  .map((entries) => zipWith(entries));
const changes = fc.array(fc.tuple(fc.nat(4000), fc.nat(255)), { maxLength: 4 });

describe('an archive', () => {
  test.each([
    ['tar', tars],
    ['zip', zips],
    ['tar with gzip', tars.map((bytes) => gzipSync(bytes))],
    ['tar with zstd', tars.map((bytes) => zstdCompressSync(bytes))],
  ])('of any entries and any damage is refused, or is safe: %s', async (_, archives) => {
    await fc.assert(
      fc.asyncProperty(archives, changes, fc.option(fc.nat(4000)), async (bytes, damage, length) => {
        const damaged = Buffer.from(bytes);
        for (const [at, value] of damage) if (damaged.length > 0) damaged[at % damaged.length] = value;
        const files = await filesOf(length === null ? damaged : damaged.subarray(0, length));
        if (files) assertSafe(files);
      }),
      { numRuns: 400 },
    );
  });

  test('of any bytes is refused, whatever its first bytes promise', async () => {
    const starts = [
      '',
      'PK\u0003\u0004',
      'PK\u0005\u0006',
      '\u001f\u008b\u0008\u0000',
      '\u0028\u00b5\u002f\u00fd',
    ];
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...starts),
        fc.uint8Array({ maxLength: 2 * BLOCK }),
        async (start, rest) => {
          const files = await filesOf(Buffer.concat([Buffer.from(start, 'latin1'), rest]));
          if (files) assertSafe(files);
        },
      ),
      { numRuns: 500 },
    );
  });

  test('any extended header is read or refused', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.uint8Array(), fc.string({ unit: fc.constantFrom('0', '1', '9', ' ', '=', '\n') })),
        (input) => {
          const found = parsePax(Buffer.from(input as Uint8Array));
          if (typeof found === 'string') expect(found).not.toBe('');
          else expect([...found.keys()].length).toBeLessThanOrEqual(input.length);
        },
      ),
    );
  });

  test('any list of names is refused, or safe', () => {
    fc.assert(
      fc.property(fc.array(names, { maxLength: 8 }), (list) => {
        const set = new FileSet('The list');
        try {
          for (const name of list) set.claim(Buffer.from(name), 0);
          assertSafe(set.finish());
        } catch (error) {
          if (!(error instanceof SkillError)) throw error;
        }
      }),
      { numRuns: 2000 },
    );
  });
});

const PLAIN = fc.stringMatching(/^[a-z\d][a-z\d _-]{0,12}$/).filter((name) => name.trim() === name);
const trees = fc
  .dictionary(
    fc.array(PLAIN, { minLength: 1, maxLength: 3 }).map((parts) => `t/${parts.join('/')}.x`),
    contents,
    {
      minKeys: 1,
      maxKeys: 6,
    },
  )
  .filter((files) =>
    Object.keys(files).every((path) => !Object.keys(files).some((other) => other.startsWith(`${path}/`))),
  );

describe('what programs of the system pack is read as it was', () => {
  test.each([
    ['tar', ['tar', '-cf', 'a', 't']],
    ['tar in the format of POSIX', ['tar', '--format=posix', '-czf', 'a', 't']],
    ['zip', ['zip', '-qr', 'a', 't']],
    ['zipfile of Python', ['/usr/bin/python3', '-m', 'zipfile', '-c', 'a', 't']],
  ])('%s', async (_, [program = '', ...args]) => {
    const folder = tempFolder();
    await fc.assert(
      fc.asyncProperty(trees, async (files) => {
        writeFiles(folder, files);
        execFileSync(program, args, { cwd: folder, stdio: 'pipe' });
        const found = await filesOf(readFileSync(join(folder, program === 'zip' ? 'a.zip' : 'a')));
        for (const name of ['t', 'a', 'a.zip']) rmSync(join(folder, name), { recursive: true, force: true });
        expect(found && Object.fromEntries(found)).toEqual(files);
      }),
      { numRuns: 15 },
    );
  });
});
