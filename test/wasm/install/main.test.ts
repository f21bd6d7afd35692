import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { fixture } from '../binary/support.ts';

const MAIN = fileURLToPath(new URL('../../../guest/wasm/install/main.ts', import.meta.url));

let directory = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'skillcell-install-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

function runInstaller(bytes: Uint8Array): { status: number | null; output: string } {
  const input = join(directory, 'input');
  writeFileSync(input, bytes);
  const flags = [
    '--disallow-code-generation-from-strings',
    '--permission',
    `--allow-fs-read=${join(MAIN, '../..')}`,
  ];
  const allowed = [`--allow-fs-read=${directory}`, `--allow-fs-write=${directory}`];
  const ended = spawnSync(process.execPath, [...flags, ...allowed, MAIN, input, directory, '16'], {
    env: {},
    encoding: 'utf8',
  });
  return { status: ended.status, output: `${ended.stdout}${ended.stderr}` };
}

test('the installer writes plan and modules to the output directory, and prints nothing', () => {
  expect(runInstaller(fixture('hosted.wasm'))).toEqual({ status: 0, output: '' });
  expect(readdirSync(directory).sort()).toEqual(['0.wasm', '1.wasm', '2.wasm', 'input', 'plan.json']);
  expect(JSON.parse(readFileSync(join(directory, 'plan.json'), 'utf8'))).toMatchObject({
    version: 1,
    entry: 'execute',
  });
  expect(WebAssembly.validate(readFileSync(join(directory, '0.wasm')))).toBe(true);
});

test('a refusal says why and where, and exits with 3', () => {
  expect(runInstaller(fixture('hosted.wasm').slice(0, 1_000))).toEqual({ status: 3, output: '' });
  const refusal = JSON.parse(readFileSync(join(directory, 'refusal.json'), 'utf8')) as Record<
    string,
    unknown
  >;
  expect(refusal).toEqual({ message: expect.any(String), offset: expect.any(Number) });
  expect(existsSync(join(directory, 'plan.json'))).toBe(false);
});
