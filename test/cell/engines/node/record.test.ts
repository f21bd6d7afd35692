/**
 * `record` sees what a Node skill uses and what it is denied.
 *
 * @module
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openJsBench } from '../js-wasm/js-bench.ts';

const bench = openJsBench({ pool: { size: 0 } }, { mode: 'subprocess', engine: 'node' });
afterAll(bench.close);

const SOURCE = `
  import { readFileSync } from 'node:fs';
  const tried = (read) => { try { return read(); } catch (error) { return error.code; } };
  export const execute = () => [
    tried(() => readFileSync('/workspace/notes/a.txt', 'utf8')),
    tried(() => readFileSync('/workspace/other/b.txt', 'utf8')),
    process.env['SOME_' + 'SETTING'] ?? 'none',
  ];
`;

test('allowed acts are recorded as used, all others as denied', async () => {
  for (const name of ['notes/a.txt', 'other/b.txt']) {
    mkdirSync(join(bench.folder, name, '..'), { recursive: true });
    writeFileSync(join(bench.folder, name), 'a note', { mode: 0o644 });
  }
  const { outcome } = await bench.runtime.record(
    bench.skill(SOURCE),
    {},
    { workspace: bench.folder, allow: { read: ['${workspace}/notes'] } },
  );
  expect(outcome).toMatchObject({ ok: true, result: ['a note', 'ENOENT', 'none'] });
  expect(outcome.capabilities.used.map(({ asked }) => asked)).toEqual(['read /workspace/notes/a.txt']);
  expect(outcome.capabilities.denied.map(({ asked }) => asked)).toEqual([
    'read /workspace/other/b.txt',
    'read SOME_SETTING',
  ]);
});
