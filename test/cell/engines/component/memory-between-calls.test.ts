/**
 * Only a call's own memory counts towards its limit, not what earlier calls left in the process.
 *
 * @module
 */
import { afterAll, expect, test } from 'vitest';
import { openTestRuntime } from '../../test-runtime.ts';
import { WasmBench } from './bench.ts';
import * as programs from './programs.ts';

const PAGES_PER_MIB = 16;
const MIB = 1024 * 1024;
/** Initial memory of the programs: two pages. */
const START_BYTES = 131_072;

const { runtime, folder, close } = openTestRuntime({});
const bench = new WasmBench(runtime, folder);
afterAll(close);

/** Grows by `mib` MiB in steps of `step` pages, and writes to all of them. */
const touch = (mib: number, step = mib * PAGES_PER_MIB): string => `
  (block $end (loop $more
    (br_if $end (i32.ge_u (memory.size) (i32.const ${2 + mib * PAGES_PER_MIB})))
    (br_if $more (i32.ne (memory.grow (i32.const ${step})) (i32.const -1)))
    (unreachable)))
  (memory.fill (i32.const ${START_BYTES}) (i32.const 170) (i32.const ${mib * MIB}))`;

const COMPONENT = (act: string): Uint8Array => programs.componentEcho({ first: act });
const COMMAND = (act: string): Uint8Array =>
  programs.command({ body: `${act} (call $print (i32.const ${programs.INPUT}) (local.get $length))` });

test.each([
  { what: 'component', make: COMPONENT, mib: 20, limit: 64, calls: 60 },
  { what: 'component', make: COMPONENT, mib: 60, limit: 64, calls: 200 },
  { what: 'component', make: COMPONENT, mib: 688, limit: 768, calls: 10 },
  { what: 'command', make: COMMAND, mib: 60, limit: 64, calls: 30 },
])(
  '$calls calls in a row of a $what that touch $mib of $limit MiB all succeed',
  async ({ make, mib, limit, calls }) => {
    const limits = { memory: `${limit}MiB`, timeout: '30s', cpu: '30s' };
    const skill = bench.skill(make(touch(mib)), { limits });
    for (let call = 0; call < calls; call++) {
      const { result, usage } = await bench.succeed(skill, { call });
      expect([result, usage.memory_peak_bytes]).toEqual([{ call }, START_BYTES + mib * MIB]);
    }
  },
);

test('80 calls in a row of a component that grows by single pages, as an allocator does, all succeed', async () => {
  const skill = bench.skill(COMPONENT(touch(16, 1)), { limits: { memory: '64MiB' } });
  for (let call = 0; call < 80; call++)
    expect((await bench.succeed(skill, { call })).result).toEqual({ call });
});

test('a component whose start function fills most of its memory can be called many times', async () => {
  const limits = { memory: '448MiB', timeout: '30s', cpu: '30s' };
  const skill = bench.skill(programs.componentEcho({ start: touch(400) }), { limits });
  for (let call = 0; call < 4; call++)
    expect((await bench.succeed(skill, { call })).result).toEqual({ call });
});

test('calls after one that ran out of memory succeed', async () => {
  const skill = bench.skill(COMPONENT(touch(60)), { limits: { memory: '32MiB' } });
  for (let call = 0; call < 4; call++) {
    const failed = await bench.run(skill, { call });
    expect(failed).toMatchObject({ ok: false, error: { code: 'resource_exceeded' } });
    expect((await bench.succeed(skill, {})).result).toEqual({});
  }
});
