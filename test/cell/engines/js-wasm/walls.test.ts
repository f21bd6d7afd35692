/**
 * JavaScript behaves the same with and without a jail, and doctor says which wall is used.
 *
 * @module
 */
import { appendFileSync, copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createRuntime } from '../../../../src/index.ts';
import { findQuickJs, QUICKJS, readQuickJs } from '../../../../src/cell/engines/js-wasm/quickjs.ts';
import { openJsBench } from './js-bench.ts';

const bench = openJsBench();
const plain = createRuntime({
  home: bench.runtime.home,
  cwd: bench.folder,
  audit: false,
  jail: { bwrap: '/nonexistent' },
});
afterAll(async () => {
  await plain.close();
  await bench.close();
});

test('without a jail the wall is a process, and doctor says so', async () => {
  const skill = bench.skill(`
    import { readFile } from 'skillcell:fs';
    export async function execute({ n }: { n: number }): Promise<unknown> {
      return [n + 1, (await readFile('skill.ts', 'utf8')).length > 10];
    }
  `);
  const jailed = await bench.succeed(skill, { n: 1 });
  const { execution, result } = await plain.execute(skill, { n: 1 });
  expect(result).toEqual(jailed.result);
  expect(jailed.execution?.wall).toBe('jail');
  expect(execution).toMatchObject({ mode: 'wasm', wall: 'process', engine: 'js-wasm', fresh: true });
  const pair = (await plain.doctor()).find(({ engine }) => engine === 'js-wasm');
  expect(pair).toMatchObject({ mode: 'wasm', wall: 'process', available: true });
  expect(pair?.summary).toContain(QUICKJS.version);
});

test('a QuickJS binary with another digest is refused', () => {
  const other = join(bench.folder, 'quickjs.wasm');
  copyFileSync(findQuickJs() ?? '', other);
  expect(readQuickJs(other).length).toBeGreaterThan(500_000);
  appendFileSync(other, '\0');
  expect(() => readQuickJs(other)).toThrow(/has the sha256/);
});
