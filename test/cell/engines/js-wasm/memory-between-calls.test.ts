/**
 * Only a call's own memory counts towards its limit, not what earlier calls left in the process.
 *
 * @module
 */
import { afterAll, expect, test } from 'vitest';
import { openJsBench } from './js-bench.ts';

const MIB = 1024 * 1024;
const bench = openJsBench();
afterAll(bench.close);

test.each([
  { mib: 200, limit: 256, calls: 200 },
  { mib: 20, limit: 64, calls: 60 },
])('$calls calls in a row that touch $mib of $limit MiB all succeed', async ({ mib, limit, calls }) => {
  const skill = bench.skill({
    source: `export const execute = () => new Uint8Array(${mib * MIB}).fill(170).length;`,
    entry: 'skill.js',
    manifest: { limits: { memory: `${limit}MiB`, timeout: '30s', cpu: '30s' } },
  });
  for (let call = 0; call < calls; call++) {
    const { result, usage } = await bench.succeed(skill);
    expect(result).toBe(mib * MIB);
    expect(usage.memory_peak_bytes).toBeLessThanOrEqual(limit * MIB);
  }
});

test('a skill whose module body fills most of its memory can be called many times', async () => {
  const skill = bench.skill({
    source: `const held = new Uint8Array(${400 * MIB}).fill(170);\nexport const execute = () => held.length;`,
    entry: 'skill.js',
    manifest: { limits: { memory: '448MiB', timeout: '30s', cpu: '30s' } },
  });
  for (let call = 0; call < 4; call++) expect((await bench.succeed(skill)).result).toBe(400 * MIB);
});
