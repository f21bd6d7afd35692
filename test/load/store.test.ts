import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, chownSync, lstatSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { readBundle, readEverything } from '../../src/load/read-bundle.ts';
import { createStore } from '../../src/load/store.ts';
import { errorOf, tempDir, tempTree, writeTree } from './helpers.ts';

const TREE = {
  'manifest.yaml': 'name: a/b\n',
  'skill.py': 'x = 1\n',
  'data/deep/list.json': '[]',
  'skill.lock': 'l',
};
const modeOf = (path: string): number => lstatSync(path).mode & 0o7777;
const isRoot = process.getuid?.() === 0;

describe('staging', () => {
  test('creates a read-only copy named by its digest', () => {
    const bundle = readBundle(tempTree(TREE));
    const store = createStore({ home: join(tempDir(), 'parent/home') });
    const staged = store.stage(bundle);
    expect(staged).toBe(join(store.home, 'store', bundle.digest.replace('sha256:', '')));
    expect(readEverything(staged).digest).toBe(bundle.digest);
    expect(modeOf(staged)).toBe(0o555);
    expect(modeOf(join(staged, 'data/deep'))).toBe(0o555);
    expect(modeOf(join(staged, 'skill.py'))).toBe(0o444);
    expect(readdirSync(join(store.home, 'store'))).toHaveLength(1);
  });

  test('keeps the files of scripts writable by their owner, so that copies of templates are', () => {
    const store = createStore({ home: join(tempDir(), 'home') });
    const staged = store.stage({ ...readBundle(tempTree(TREE)), kind: 'script' });
    expect(modeOf(join(staged, 'data/deep'))).toBe(0o755);
    expect(modeOf(join(staged, 'skill.py'))).toBe(0o644);
  });

  test('keeps an intact copy', () => {
    const bundle = readBundle(tempTree(TREE));
    const store = createStore({ home: join(tempDir(), 'home') });
    const before = lstatSync(store.stage(bundle)).ino;
    expect(lstatSync(store.stage(bundle)).ino).toBe(before);
  });

  test.each([
    ['a byte was changed', (dir: string) => writeTree(dir, { 'skill.py': 'x = 2\n' })],
    ['a file was added', (dir: string) => writeTree(dir, { 'extra.py': '' })],
    ['compiled code was slipped in', (dir: string) => writeTree(dir, { '__pycache__/skill.pyc': 'x' })],
    ['a link was added', (dir: string) => symlinkSync('/etc', join(dir, 'etc'))],
  ])('rebuilds a copy in which %s', (_, tamper) => {
    const bundle = readBundle(tempTree(TREE));
    const store = createStore({ home: join(tempDir(), 'home') });
    const staged = store.stage(bundle);
    chmodSync(staged, 0o755);
    chmodSync(join(staged, 'skill.py'), 0o644);
    tamper(staged);
    expect(store.stage(bundle)).toBe(staged);
    expect(readEverything(staged).digest).toBe(bundle.digest);
    expect(readdirSync(join(store.home, 'store'))).toHaveLength(1);
  });

  test('replaces a file that is at the path of the copy', () => {
    const bundle = readBundle(tempTree(TREE));
    const store = createStore({ home: join(tempDir(), 'home') });
    writeFileSync(join(store.home, 'store', bundle.digest.replace('sha256:', '')), 'in the way');
    expect(readEverything(store.stage(bundle)).digest).toBe(bundle.digest);
  });

  test('works in several processes at the same time', async () => {
    const source = tempTree(
      Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`d${index}/f`, `${index}`])),
    );
    const home = join(tempDir(), 'home');
    const module = (name: string): string =>
      fileURLToPath(new URL(`../../src/load/${name}.ts`, import.meta.url));
    const program = `
      import { readBundle } from ${JSON.stringify(module('read-bundle'))};
      import { createStore } from ${JSON.stringify(module('store'))};
      const bundle = readBundle(${JSON.stringify(source)});
      process.stdin.once('data', () => {
        createStore({ home: ${JSON.stringify(home)} }).stage(bundle);
        process.exit(0);
      });
      process.stdout.write('ready');`;
    const children = Array.from({ length: 4 }, () =>
      spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['pipe', 'pipe', 'inherit'] }),
    );
    const codes = children.map((child) => new Promise((done) => child.once('exit', done)));
    await Promise.all(children.map((child) => new Promise((done) => child.stdout.once('data', done))));
    for (const child of children) child.stdin.write('go');
    expect(await Promise.all(codes)).toEqual([0, 0, 0, 0]);
    const { digest } = readBundle(source);
    expect(readdirSync(join(home, 'store'))).toEqual([digest.replace('sha256:', '')]);
    expect(readEverything(join(home, 'store', digest.replace('sha256:', ''))).digest).toBe(digest);
  });
});

describe('the home folder', () => {
  test('can be traversed by others, but not listed', () => {
    const { home } = createStore({ home: join(tempDir(), 'home') });
    expect([modeOf(home), modeOf(join(home, 'store'))]).toEqual([0o711, 0o711]);
  });

  test('is open to one group only if root configured it', () => {
    const { home } = createStore({ home: join(tempDir(), 'home'), groupId: process.getgid?.() ?? 0 });
    expect(modeOf(join(home, 'store'))).toBe(isRoot ? 0o710 : 0o711);
    expect(lstatSync(home).gid).toBe(process.getgid?.());
  });

  test('is refused if it is a link or a file, or if other users can write to it', () => {
    const dir = tempTree({ file: '' });
    mkdirSync(join(dir, 'real'));
    symlinkSync(join(dir, 'real'), join(dir, 'link'));
    mkdirSync(join(dir, 'open'));
    chmodSync(join(dir, 'open'), 0o777);
    const reasons = ['link', 'file', 'open'].map((name) =>
      errorOf(() => createStore({ home: join(dir, name) })),
    );
    expect(reasons.map((error) => error.code)).toEqual(['usage', 'usage', 'usage']);
    expect(reasons.map((error) => error.detail['reason'])).toEqual([
      'it is a symbolic link',
      'it is not a folder',
      'other users can write to it',
    ]);
  });

  test('is refused if its store is a link', () => {
    const home = tempDir();
    symlinkSync(tempDir(), join(home, 'store'));
    expect(errorOf(() => createStore({ home })).message).toContain('symbolic link');
  });

  test('is refused if it belongs to another user', () => {
    const foreign = isRoot ? join(tempDir(), 'foreign') : '/usr';
    if (isRoot) {
      mkdirSync(foreign);
      chownSync(foreign, 54_321, 54_321);
    }
    expect(errorOf(() => createStore({ home: foreign })).message).toContain('belongs to user');
  });

  test('is refused below a folder that the users of cells cannot traverse', () => {
    const above = join(tempDir(), 'private');
    mkdirSync(above, { mode: 0o700 });
    const store = createStore({ home: join(above, 'home'), ...(isRoot ? { groupId: 0 } : {}) });
    const stage = (): string => store.stage(readBundle(tempTree(TREE)));
    // Cells of a host that is not root run as its own user, who can traverse the folder.
    if (!isRoot) return expect(stage).not.toThrow();
    const error = errorOf(stage);
    expect(error).toMatchObject({ code: 'usage' });
    expect(error.message).toContain(`cannot traverse ${JSON.stringify(above)}`);
  });

  test('is refused with a usage error if its group cannot be set or its file system is read-only', () => {
    const program = `
      const { createStore } = await import(${JSON.stringify(fileURLToPath(new URL('../../src/load/store.ts', import.meta.url)))});
      try { createStore({ home: process.argv[1], groupId: 54321 }); console.log('made'); }
      catch (error) { console.log(error.code, error.detail?.reason, error.fix); }`;
    const home = join(tempDir(), 'home');
    createStore({ home });
    const inside = (...command: string[]): string =>
      execFileSync(
        'unshare',
        [
          '--user',
          '--map-root-user',
          '--mount',
          ...command,
          process.execPath,
          '--input-type=module',
          '-e',
          program,
          home,
        ],
        { encoding: 'utf8' },
      );
    expect(inside()).toMatch(
      /^usage this user namespace does not map the group.*Run Skillcell outside this user namespace/,
    );
    expect(inside()).not.toContain('SKILLCELL_HOME');
    const readOnly = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@" "$0"';
    expect(
      execFileSync(
        'unshare',
        [
          '--user',
          '--map-root-user',
          '--mount',
          'sh',
          '-c',
          readOnly,
          home,
          process.execPath,
          '--input-type=module',
          '-e',
          program,
        ],
        { encoding: 'utf8' },
      ),
    ).toMatch(/^usage its file system is read-only/);
  });
});
