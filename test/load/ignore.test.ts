/**
 * What does not belong to a bundle, by default and by `.skillcellignore`.
 */
import { spawnSync } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { refuseIgnoredEntry } from '../../src/load/entry.ts';
import { folderStamp } from '../../src/load/folder-stamp.ts';
import { IgnoreRules, IGNORE_FILE, IGNORE_LIMITS } from '../../src/load/ignore.ts';
import { LIMITS_HERE, readBundle } from '../../src/load/read-bundle.ts';
import { errorOf, tempDir, tempTree, writeTree } from './helpers.ts';

const filesOf = (tree: Record<string, string>): string[] => Object.keys(readBundle(tempTree(tree)).files);

describe('the patterns of .skillcellignore', () => {
  const segment = fc.constantFrom('a', 'b', 'ab', 'a.txt', 'b.txt', '.c');
  const path = fc.array(segment, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
  const piece = fc.constantFrom('a', 'b', '*', '*.txt', 'a*', '**', '.c');
  const pattern = fc
    .tuple(
      fc.constantFrom('', '!'),
      fc.constantFrom('', '/'),
      fc.array(piece, { minLength: 1, maxLength: 4 }),
    )
    .chain(([sign, root, parts]) =>
      fc.constantFrom('', '/').map((end) => `${sign}${root}${parts.join('/')}${end}`),
    );

  test('mean the same as in .gitignore', () => {
    const repository = tempDir();
    expect(spawnSync('git', ['init', '-q', repository]).status).toBe(0);
    fc.assert(
      fc.property(
        fc.array(pattern, { minLength: 1, maxLength: 4 }),
        fc.array(path, { minLength: 1, maxLength: 8 }),
        (lines, paths) => {
          writeFileSync(join(repository, '.gitignore'), `${lines.join('\n')}\n`);
          const rules = new IgnoreRules(lines.join('\n'));
          const asked = [...new Set(paths)];
          const { stdout } = spawnSync('git', ['-C', repository, 'check-ignore', '--no-index', '--stdin'], {
            input: asked.join('\n'),
            encoding: 'utf8',
          });
          const ignored = new Set(stdout.split('\n'));
          for (const one of asked)
            expect([lines, one, isIgnored(rules, one)]).toEqual([lines, one, ignored.has(one)]);
        },
      ),
      { numRuns: 150 },
    );
  });

  /** Like the walk: what is in an ignored folder is ignored. */
  function isIgnored(rules: IgnoreRules, one: string): boolean {
    const parts = one.split('/');
    return parts.some(
      (_, at) =>
        rules.verdict(parts.slice(0, at + 1).join('/'), { isFolder: at < parts.length - 1 }) !== 'part',
    );
  }

  test('never hide the manifest, the lock or themselves', () => {
    fc.assert(
      fc.property(fc.array(pattern, { maxLength: 6 }), (lines) => {
        const rules = new IgnoreRules(['*', ...lines].join('\n'));
        for (const name of ['manifest.yaml', 'SKILL.md', 'skill.lock', 'skill.sig', IGNORE_FILE])
          expect(rules.verdict(name, { isFolder: false })).toBe('part');
      }),
    );
  });

  test.each(['a?', '[ab]', 'a\\b', '../x', 'a//b', '.', '/', 'a**b', '!'])(
    'refuse %j, which is not supported',
    (line) => {
      expect(errorOf(() => new IgnoreRules(`# comment\n${line}\n`)).code).toBe('manifest_invalid');
    },
  );

  test('are limited in size and number', () => {
    const many = 'a\n'.repeat(IGNORE_LIMITS.patterns + 1);
    expect(errorOf(() => new IgnoreRules(many)).message).toContain('more than 200 patterns');
    const long = tempTree({ [IGNORE_FILE]: `# ${'x'.repeat(IGNORE_LIMITS.bytes)}` });
    expect(errorOf(() => readBundle(long)).message).toContain(IGNORE_FILE);
    const some = tempTree({ [IGNORE_FILE]: 'a\n'.repeat(LIMITS_HERE.patterns + 1) });
    expect(errorOf(() => readBundle(some, LIMITS_HERE)).detail).toHaveProperty('limits');
    expect(readBundle(some).ignored.size).toBe(0);
  });
});

describe('a bundle', () => {
  test('leaves out what .skillcellignore lists, includes what it demands, and covers the file itself', () => {
    const tree = {
      [IGNORE_FILE]: '# mine\n*.log\n/notes/\n!keep.log\n!node_modules\n',
      'skill.py': '',
      'a.log': '',
      'sub/b.log': '',
      'keep.log': '',
      'notes/todo.txt': '',
      'sub/notes/kept.txt': '',
      'node_modules/a/index.js': '',
    };
    const kept = [IGNORE_FILE, 'keep.log', 'node_modules/a/index.js', 'skill.py', 'sub/notes/kept.txt'];
    expect(filesOf(tree)).toEqual(kept);
    const before = readBundle(tempTree(tree)).digest;
    expect(readBundle(tempTree({ ...tree, 'more.log': 'x', 'notes/x': 'x' })).digest).toBe(before);
    expect(readBundle(tempTree({ ...tree, [IGNORE_FILE]: `${tree[IGNORE_FILE]}#\n` })).digest).not.toBe(
      before,
    );
  });

  test('refuses an ignore file that is a link', () => {
    const dir = tempTree({ 'skill.py': '', 'rules.txt': '*' });
    symlinkSync('rules.txt', join(dir, IGNORE_FILE));
    expect(errorOf(() => readBundle(dir)).message).toContain('symbolic link');
  });

  test('refuses a folder with too many ignored files', () => {
    const dir = tempTree({ 'skill.py': '' });
    for (let at = 0; at <= 2000; at += 1) writeFileSync(join(dir, `${at}.pyc`), '');
    expect(errorOf(() => readBundle(dir, LIMITS_HERE)).message).toContain('more than 2000 entries');
    expect(Object.keys(readBundle(dir).files)).toEqual(['skill.py']);
  });

  const KEY = '-----BEGIN PRIVATE KEY-----\nMIIinvented\n-----END PRIVATE KEY-----\n';

  test.each(['.env', '.env.production', 'sub/.netrc', 'id_ed25519', 'a.p12'])(
    'leaves out %s with a warning, unless it is listed by name',
    (name) => {
      const without = readBundle(tempTree({ 'skill.py': '' }));
      const left = readBundle(tempTree({ 'skill.py': '', [name]: 'invented' }));
      expect(left.digest).toBe(without.digest);
      expect(left.warnings).toHaveLength(1);
      expect(left.warnings[0]).toContain(`"${name}" looks like a secret and was left out`);
      const wide = readBundle(tempTree({ [IGNORE_FILE]: '!*\n', [name]: 'invented' }));
      expect(Object.keys(wide.files)).toEqual([IGNORE_FILE]);
      const listed = readBundle(tempTree({ [IGNORE_FILE]: `!/${name}\n`, [name]: 'invented' }));
      expect(Object.keys(listed.files)).toContain(name);
      expect(listed.warnings[0]).toContain('is part of the bundle');
      const ignored = readBundle(tempTree({ [IGNORE_FILE]: `/${name}\n`, [name]: 'invented' }));
      expect([ignored.files[name], ignored.warnings]).toEqual([undefined, []]);
    },
  );

  test('recognizes private keys by their content, and keeps certificates', () => {
    const { files, warnings } = readBundle(
      tempTree({ 'a.pem': KEY, 'b.key': KEY, 'ca.pem': '-----BEGIN CERTIFICATE-----' }),
    );
    expect(Object.keys(files)).toEqual(['ca.pem']);
    expect(warnings).toHaveLength(2);
    expect(warnings.join()).not.toContain('invented');
  });

  test('keeps examples of variables, and ignores a virtual environment called .env', () => {
    const { files, warnings } = readBundle(tempTree({ '.env.example': '', '.env/bin/python': '' }));
    expect([Object.keys(files), warnings]).toEqual([['.env.example'], []]);
  });
});

describe('an entry', () => {
  test.each([
    ['skill.py', {}, 'skill.py'],
    ['src/', { entry: 'src/main.py' }, 'src/main.py'],
    ['*.py', { entry: './skill.py' }, 'skill.py'],
    ['Dockerfile', { container: { dockerfile: 'Dockerfile' }, entry: 'skill.ts' }, 'Dockerfile'],
  ])('cannot be ignored: %s', (line, manifest, lost) => {
    const tree = { 'skill.py': '', 'skill.ts': '', 'src/main.py': '', Dockerfile: '' };
    const source = readBundle(tempTree({ ...tree, [IGNORE_FILE]: line }));
    const error = errorOf(() => refuseIgnoredEntry(manifest, source));
    expect(error.message).toBe(`The bundle needs the file "${lost}", which is ignored.`);
    expect(error.fix).toContain(IGNORE_FILE);
    expect(() => refuseIgnoredEntry({ entry: 'other.py' }, source)).not.toThrow();
  });
});

test('the stamp of a folder changes with its files, but not with ignored ones', () => {
  const dir = tempTree({ 'skill.py': '', 'node_modules/a.js': '' });
  symlinkSync('/nowhere', join(dir, 'node_modules/broken'));
  const before = folderStamp(dir);
  expect(folderStamp(dir)).toBe(before);
  writeTree(dir, { 'node_modules/b.js': '' });
  writeTree(dir, { 'skill.py': 'changed' });
  expect(folderStamp(dir)).not.toBe(before);
});
