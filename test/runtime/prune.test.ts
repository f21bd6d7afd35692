/**
 * `prune` removes what no skill and no running process uses, and nothing else.
 *
 * @module
 */
import { existsSync, mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createRuntime, type Runtime } from '../../src/index.ts';
import { FileLock } from '../../src/load/file-lock.ts';
import { openFolder, removeFolder, writeSkill } from '../write-skill.ts';

const LONG_AGO = new Date(Date.now() - 30 * 24 * 60 * 60 * 1000);
const SOURCE = 'def execute(params):\n    return 1\n';
let folder = '';
let home = '';
let runtime: Runtime;
const open = (cwd = folder): Runtime => createRuntime({ home, cwd, audit: false });
const stored = (): string[] => readdirSync(join(home, 'store'));

beforeEach(() => {
  folder = openFolder();
  home = join(folder, 'home');
  runtime = open();
});

afterEach(async () => {
  await runtime.close();
  removeFolder(folder);
});

function age(path: string): string {
  utimesSync(path, LONG_AGO, LONG_AGO);
  return path;
}

function oldFolder(...parts: string[]): string {
  const path = join(home, ...parts);
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, 'file'), 'x'.repeat(1000));
  age(join(path, 'file'));
  return age(path);
}

test('a staged copy stays while its skill exists, and goes when the skill is gone and a week has passed', async () => {
  const dir = writeSkill(folder, { source: SOURCE });
  const { stagedDir } = (await runtime.load(dir)).bundle;
  age(stagedDir);
  await runtime.prune();
  expect(existsSync(stagedDir)).toBe(true);
  rmSync(dir, { recursive: true });
  await runtime.close();
  runtime = open();
  expect((await runtime.prune()).removed.map(({ path }) => path)).not.toContain(stagedDir);
  age(stagedDir);
  for (const name of readdirSync(stagedDir)) age(join(stagedDir, name));
  const { removed, bytes } = await runtime.prune();
  expect(removed).toContainEqual({
    path: stagedDir,
    what: 'staged copies of skills',
    bytes: expect.any(Number),
  });
  expect(bytes).toBeGreaterThan(0);
  expect(existsSync(stagedDir)).toBe(false);
});

test('packages, caches and leftovers go, and the report counts their bytes', async () => {
  const gone = [
    oldFolder('environments', 'unused'),
    oldFolder('environments', '.old-1234'),
    oldFolder('environments', 'abc.wheels'),
    oldFolder('python-wasm', 'older-version'),
    oldFolder('bytecode', 'unused'),
  ];
  const { removed, bytes, users } = await runtime.prune();
  expect(removed.map(({ path }) => path)).toEqual(expect.arrayContaining(gone));
  expect([bytes, users]).toEqual([removed.reduce((sum, one) => sum + one.bytes, 0), 0]);
  expect(gone.filter((path) => existsSync(path))).toEqual([]);
});

test('a dry run removes nothing', async () => {
  const path = oldFolder('environments', 'unused');
  const { removed, bytes } = await runtime.prune({ dryRun: true });
  expect(removed).toContainEqual({ path, what: 'packages', bytes: 1000 });
  expect(bytes).toBeGreaterThanOrEqual(1000);
  expect(existsSync(path)).toBe(true);
});

test('what was used within a week stays, unless no time is asked for', async () => {
  const path = oldFolder('environments', 'recent');
  const yesterday = new Date(Date.now() - 24 * 60 * 60 * 1000);
  utimesSync(path, yesterday, yesterday);
  await runtime.prune();
  expect(existsSync(path)).toBe(true);
  await runtime.prune({ unusedMs: 0 });
  expect(existsSync(path)).toBe(false);
});

test('what another running process uses stays, however it is asked', async () => {
  const elsewhere = openFolder();
  const other = open(elsewhere);
  try {
    const dir = writeSkill(elsewhere, { source: SOURCE });
    const { stagedDir } = (await other.load(dir)).bundle;
    const cache = oldFolder('harness', 'maybe-in-use');
    const { users } = await runtime.prune({ unusedMs: 0 });
    expect(users).toBe(1);
    expect([stagedDir, cache].map((path) => existsSync(path))).toEqual([true, true]);
    expect(await other.execute(dir, {})).toMatchObject({ result: 1 });
    await other.close();
    const after = await runtime.prune({ unusedMs: 0 });
    expect(after.users).toBe(0);
    expect([stagedDir, cache].map((path) => existsSync(path))).toEqual([false, false]);
  } finally {
    await other.close();
    removeFolder(elsewhere);
  }
});

test('receipts, approvals, policies and installed skills stay', async () => {
  const kept = ['approvals', 'policies', 'installed', 'images', 'audit.db.folder'].map((name) =>
    oldFolder(name),
  );
  await runtime.prune({ unusedMs: 0 });
  expect(kept.filter((path) => !existsSync(path))).toEqual([]);
});

test('only one process prunes at a time', async () => {
  await runtime.prune();
  using held = FileLock.claim(join(home, 'prune.lock'));
  expect(held).toBeDefined();
  await expect(runtime.prune()).rejects.toMatchObject({ code: 'skill_unavailable' });
});

test('a home that holds nothing is pruned without an error', async () => {
  expect((await runtime.prune({ unusedMs: 0, dryRun: true })).users).toBe(0);
  expect(stored).not.toThrow();
});
