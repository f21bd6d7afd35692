/**
 * `install` and `uninstall`: a project's own skill stays in its place, and a lock pins the packages of a skill.
 *
 * @module
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { InstallProgress, Outcome } from '../../src/index.ts';
import { parseLock, formatLock } from '../../src/load/lock.ts';
import { useIndex, writeWheel } from '../cell/engines/python/local-index.ts';
import { openTestRuntime } from '../cell/test-runtime.ts';
import { openFolder, removeFolder, writeSkill } from '../write-skill.ts';

const { runtime, folder, close } = openTestRuntime();
const elsewhere = openFolder();
const index = join(elsewhere, 'index');
const home = join(folder, 'home');
const SOURCE = 'import greeting\ndef execute(params):\n    return greeting.WORD\n';
const MANIFEST = { requirements: ['greeting'], execution: 'subprocess' };
const lockOf = (dir: string): string => readFileSync(join(dir, 'skill.lock'), 'utf8');
const call = (ref: string): Promise<Outcome> => runtime.execute(ref, {}, { reject: false });

afterAll(async () => {
  await close();
  removeFolder(elsewhere);
});

function addGreeting(version: string, word = version): void {
  const files = { 'greeting.py': Buffer.from(`WORD = "${word}"\n`) };
  writeWheel(index, { name: 'greeting', version, tag: 'py3-none-any', files });
}

beforeEach(() => {
  rmSync(index, { recursive: true, force: true });
  rmSync(join(home, 'environments'), { recursive: true, force: true });
  rmSync(join(home, 'installed'), { recursive: true, force: true });
  mkdirSync(index, { recursive: true });
  addGreeting('1.0');
  useIndex(index);
});

describe('installing a skill', () => {
  test('of the project fetches its packages and leaves it where it is', async () => {
    const dir = writeSkill(folder, { id: 'own/in_place', source: SOURCE, manifest: MANIFEST });
    const before = await call('own/in_place');
    expect(before.ok || before.error.fix).toBe(`Install them: skillcell install ${dir}`);
    const { installation } = await runtime.install(dir);
    expect(installation).toMatchObject({ folder: dir, copied: false, pinned: false, changes: [] });
    expect(existsSync(join(home, 'installed'))).toBe(false);
    expect(runtime.list().filter(({ ref }) => ref === 'own/in_place')).toHaveLength(1);
    expect(await call('own/in_place')).toMatchObject({ ok: true, result: '1.0' });
  });

  test('of the project copies it if asked to', async () => {
    const dir = writeSkill(folder, { id: 'own/copied', source: SOURCE, manifest: MANIFEST });
    const { installation } = await runtime.install(dir, { global: true });
    expect(installation).toMatchObject({ folder: join(home, 'installed', 'own/copied'), copied: true });
  });

  test('from elsewhere copies it, and installing the copy again changes nothing', async () => {
    const dir = writeSkill(elsewhere, { id: 'other/copied', source: SOURCE, manifest: MANIFEST });
    expect((await runtime.install(dir)).installation.copied).toBe(true);
    expect(await call('other/copied')).toMatchObject({ ok: true });
    expect((await runtime.install('other/copied')).installation.copied).toBe(false);
  });

  test('reports what pip resolves and installs', async () => {
    const dir = writeSkill(folder, { source: SOURCE, manifest: MANIFEST });
    const steps: InstallProgress[] = [];
    await runtime.install(dir, { onInstall: (progress) => steps.push(progress) });
    expect(steps).toContainEqual({
      step: 'resolve',
      engine: 'python',
      what: 'greeting-1.0-py3-none-any.whl',
    });
    expect(steps).toContainEqual({ step: 'unpack', engine: 'python', what: '1 package' });
    const again: InstallProgress[] = [];
    await runtime.install(dir, { onInstall: (progress) => again.push(progress) });
    expect(again).toEqual([]);
  });

  test('says that the index cannot be reached, and not that the requirements are wrong', async () => {
    const dir = writeSkill(folder, { source: SOURCE, manifest: MANIFEST });
    // A port of this machine where nothing listens.
    Object.assign(process.env, {
      PIP_NO_INDEX: '0',
      PIP_INDEX_URL: 'http://127.0.0.1:9/simple',
      PIP_RETRIES: '1',
    });
    rmSync(index, { recursive: true });
    onTestFinished(() => {
      for (const name of ['PIP_INDEX_URL', 'PIP_RETRIES']) delete process.env[name];
    });
    await expect(runtime.install(dir)).rejects.toMatchObject({
      message: expect.stringMatching(/^pip could not reach the package index: /) as string,
      fix: expect.stringContaining('PIP_INDEX_URL') as string,
    });
  });

  test('can be cancelled, and leaves nothing behind', async () => {
    const dir = writeSkill(folder, { source: SOURCE, manifest: MANIFEST });
    const signal = AbortSignal.abort();
    await expect(runtime.install(dir, { signal })).rejects.toMatchObject({ code: 'cancelled' });
    expect(readdirSync(join(home, 'environments'))).toEqual([]);
  });
});

describe('packages that a lock pins', () => {
  async function locked(id: string): Promise<string> {
    const dir = writeSkill(folder, { id, source: SOURCE, manifest: MANIFEST });
    await runtime.install(dir);
    await runtime.lock(dir);
    return dir;
  }

  test('are those that are installed when it is written', async () => {
    const dir = await locked('pins/written');
    const { packages } = parseLock(lockOf(dir));
    expect(packages?.requirements).toEqual(['greeting']);
    expect(Object.values(packages?.targets ?? {})).toEqual([
      [expect.stringMatching(/^greeting 1\.0 sha256:[0-9a-f]{64}$/)],
    ]);
    expect(await call(dir)).toMatchObject({ ok: true, result: '1.0' });
  });

  test('are added to an existing lock by install, which changes nothing else in it', async () => {
    const dir = writeSkill(folder, { source: SOURCE, manifest: MANIFEST });
    const { unpinned } = await runtime.writeLock(dir);
    expect(unpinned).toEqual(['greeting']);
    const { packages: none, ...before } = parseLock(lockOf(dir));
    expect(none).toBeUndefined();
    const { installation } = await runtime.install(dir);
    expect(installation.changes).toEqual([expect.stringMatching(/^python-.*: \+ greeting 1\.0$/)]);
    const { packages, ...after } = parseLock(lockOf(dir));
    expect(packages).toBeDefined();
    expect(after).toEqual(before);
    expect(formatLock(parseLock(lockOf(dir)))).toBe(lockOf(dir));
  });

  test('are installed again in the same version when a newer one exists', async () => {
    const dir = await locked('pins/same_version');
    addGreeting('2.0');
    rmSync(join(home, 'environments'), { recursive: true });
    expect((await runtime.install(dir, { frozen: true })).installation.changes).toEqual([]);
    expect(await call(dir)).toMatchObject({ ok: true, result: '1.0' });
  });

  test('are refused if other wheels are installed, with the difference', async () => {
    const dir = await locked('pins/other_wheels');
    rmSync(join(home, 'environments'), { recursive: true });
    addGreeting('2.0');
    const other = writeSkill(folder, { source: SOURCE, manifest: MANIFEST });
    await runtime.install(other);
    const outcome = await call(dir);
    expect(outcome).toMatchObject({ ok: false, error: { code: 'manifest_drift' } });
    expect(outcome.ok || outcome.error.message).toContain('greeting 1.0 -> 2.0');
    expect(outcome.ok || outcome.error.fix).toBe(`Install the packages: skillcell install ${dir}`);
    await runtime.install(dir);
    expect(await call(dir)).toMatchObject({ ok: true, result: '1.0' });
    expect(await call(other)).toMatchObject({ ok: true, result: '2.0' });
  });

  test('are refused if the index has other bytes for the same version', async () => {
    const dir = await locked('pins/other_bytes');
    rmSync(join(home, 'environments'), { recursive: true });
    addGreeting('1.0', 'swapped');
    await expect(runtime.install(dir)).rejects.toMatchObject({
      code: 'skill_unavailable',
      message: expect.stringMatching(
        /^The package index delivers other bytes than skill\.lock pins: /,
      ) as string,
      fix: expect.stringContaining('add --upgrade to `skillcell install`') as string,
    });
    expect(readdirSync(join(home, 'environments'))).toEqual([]);
    expect(await call(dir)).toMatchObject({ ok: false, error: { code: 'skill_unavailable' } });
    await runtime.install(dir, { upgrade: true });
    expect(await call(dir)).toMatchObject({ ok: true, result: 'swapped' });
  });

  test('are updated by --upgrade, which says what changed', async () => {
    const dir = await locked('pins/upgraded');
    addGreeting('2.0');
    const { installation } = await runtime.install(dir, { upgrade: true });
    expect(installation.changes).toEqual([expect.stringMatching(/^python-.*: greeting 1\.0 -> 2\.0$/)]);
    expect(lockOf(dir)).toContain('greeting 2.0 sha256:');
    expect(await call(dir)).toMatchObject({ ok: true, result: '2.0' });
  });

  test('are kept when the skill is locked again after a change to its code', async () => {
    const dir = await locked('pins/kept');
    const { packages } = parseLock(lockOf(dir));
    rmSync(join(home, 'environments'), { recursive: true });
    writeFileSync(join(dir, 'skill.py'), `${SOURCE}# changed\n`);
    expect((await runtime.writeLock(dir)).changes).toEqual([]);
    expect(parseLock(lockOf(dir)).packages).toEqual(packages);
  });

  test('of another machine are not replaced for a skill from elsewhere', async () => {
    const dir = writeSkill(elsewhere, { id: 'other/pinned', source: SOURCE, manifest: MANIFEST });
    await runtime.lock(dir);
    const lock = parseLock(lockOf(dir));
    const targets = { 'python-3.99-linux-riscv64': [`greeting 1.0 sha256:${'0'.repeat(64)}`] };
    const { inspection, ...rest } = lock;
    const text = formatLock({ ...rest, packages: { requirements: ['greeting'], targets }, inspection });
    writeFileSync(join(dir, 'skill.lock'), text);
    const failure = await runtime.install(dir).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'manifest_drift' });
    expect(String(failure)).toContain('only for python-3.99-linux-riscv64');
    expect(lockOf(dir)).toBe(text);
  });

  test.each([
    ['without a lock', false],
    ['with a lock that pins nothing', true],
  ])('are required by --frozen: %s it fails', async (_, isLocked) => {
    const dir = writeSkill(folder, { source: SOURCE, manifest: MANIFEST });
    if (isLocked) await runtime.lock(dir);
    await expect(runtime.install(dir, { frozen: true })).rejects.toMatchObject({ code: 'manifest_drift' });
  });

  test('are absent from the lock of a skill without requirements', async () => {
    const dir = writeSkill(folder, { source: 'def execute(params):\n    return 1\n' });
    await runtime.lock(dir);
    expect(Object.keys(JSON.parse(lockOf(dir)) as object)).toEqual([
      ...['version', 'digest', 'files', 'capabilities', 'inspection'],
    ]);
    expect((await runtime.install(dir, { frozen: true })).installation.packages).toEqual({});
  });
});

describe('uninstalling a skill', () => {
  const PLAIN = 'def execute(params):\n    return 1\n';

  test('removes it and its empty category', async () => {
    const dir = writeSkill(elsewhere, { id: 'gone/soon', source: PLAIN });
    await runtime.install(dir);
    expect(runtime.uninstall('gone/soon@1.0.0')).toMatchObject({ skill: 'gone/soon', version: '1.0.0' });
    expect(existsSync(join(home, 'installed', 'gone'))).toBe(false);
    expect(existsSync(dir)).toBe(true);
    expect(() => runtime.uninstall('gone/soon')).toThrow('is not installed');
  });

  test('removes a damaged copy too', async () => {
    await runtime.install(writeSkill(elsewhere, { id: 'gone/broken', source: PLAIN }));
    writeFileSync(join(home, 'installed', 'gone/broken', 'manifest.yaml'), '{');
    expect(runtime.uninstall('gone/broken').bytes).toBeGreaterThan(0);
  });

  test('keeps it if another version is named', async () => {
    await runtime.install(writeSkill(elsewhere, { id: 'stays/here', source: PLAIN }));
    expect(() => runtime.uninstall('stays/here@2.0.0')).toThrow('installed as version 1.0.0');
    expect(existsSync(join(home, 'installed', 'stays/here'))).toBe(true);
  });

  test.each(['', '..', '../store', 'a/../b', '/etc', 'a/b/c', 'stays', '@1.0.0', '.old-1'])(
    'refuses %j',
    async (ref) => {
      await runtime.install(writeSkill(elsewhere, { id: 'stays/also', source: PLAIN }), { replace: true });
      expect(() => runtime.uninstall(ref)).toThrow(/is not the id of|is not installed/);
      expect(existsSync(join(home, 'installed', 'stays/also'))).toBe(true);
    },
  );

  test('does not remove a skill of the project', () => {
    const dir = writeSkill(folder, { id: 'own/stays', source: PLAIN });
    expect(() => runtime.uninstall('own/stays')).toThrow('is not installed');
    expect(existsSync(dir)).toBe(true);
  });
});
