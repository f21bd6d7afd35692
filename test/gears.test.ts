/**
 * Every test file runs in exactly one gear, and the quick gear stays quick.
 *
 * @module
 */
import { spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, matchesGlob } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { filesOf, GEAR_NAMES, gearOf, LISTED, rankOf } from '../scripts/gears.ts';
import { ROOT } from '../scripts/steps.ts';

const files = globSync('test/**/*.test.ts', { cwd: ROOT });

describe('the gears', () => {
  test('contain every test file exactly once', () => {
    const all = GEAR_NAMES.flatMap((gear) => filesOf([gear], files));
    expect(all.sort()).toEqual([...files].sort());
    for (const gear of GEAR_NAMES) expect(filesOf([gear], files).length, gear).toBeGreaterThan(10);
  });

  test('list no folder or file that does not exist', () => {
    expect(LISTED.filter((row) => !files.some((file) => matchesGlob(file, row)))).toEqual([]);
  });

  test('start the longest suites first, whatever the size of their files', () => {
    const order = ['test/attacks/corpus.test.ts', 'test/attacks/floors.test.ts', 'test/cell/cold.test.ts'];
    const ranks = [...order, 'test/tools/formats.test.ts'].map(rankOf);
    expect(ranks.toSorted((a, b) => a - b)).toEqual(ranks);
    expect(new Set(ranks).size).toBe(ranks.length);
  });

  test('keep attacks and whole calls out of the quick gear', () => {
    expect(gearOf('test/attacks/floors.test.ts')).toBe('attacks');
    expect(gearOf('test/cli/run.test.ts')).toBe('full');
    expect(gearOf('test/trust/pins.test.ts')).toBe('full');
    expect(gearOf('test/trust/origin.test.ts')).toBe('quick');
  });
});

test('the quick gear fails a file that starts a cell', () => {
  const folder = mkdtempSync(join(ROOT, 'test', 'manifest', 'guarded-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(
    join(folder, 'starts.test.ts'),
    `import { spawn } from 'node:child_process';
     import { test } from 'vitest';
     test('starts a jail', () => new Promise((done) => spawn('bwrap', ['--version']).on('close', done).on('error', done)));`,
  );
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
  const ended = spawnSync(process.execPath, [vitest, 'run', folder], {
    cwd: ROOT,
    encoding: 'utf8',
    env: { ...process.env, SKILLCELL_GEARS: 'quick' },
  });
  expect(ended.stdout + ended.stderr).toContain('bwrap');
  expect(ended.status).toBe(1);
});
