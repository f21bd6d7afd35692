/**
 * The time and memory that a Python cell reports are those of the call, not of the process or earlier calls.
 *
 * @module
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Outcome, Skill } from '../../../../src/index.ts';
import { writeSkill } from '../../../write-skill.ts';
import { openTestRuntime } from '../../test-runtime.ts';

const MIB = 1024 * 1024;
const { runtime, folder, close } = openTestRuntime();
afterAll(close);

const RUNNER = `
  import time
  LOADED = time.monotonic()
  def execute(params):
      names = {"LOADED": LOADED}
      exec(params["code"], names)
      return names.get("r")
`;

let skill: Skill;
beforeAll(async () => {
  const limits = { memory: '448MiB', timeout: '30s', cpu: '30s' };
  skill = await runtime.load(writeSkill(folder, { source: RUNNER, manifest: { limits } }));
  await runtime.warm(skill, { execution: 'wasm' });
});

async function run(code: string): Promise<Outcome & { ok: true }> {
  const outcome = await runtime.execute(skill, { code }, { execution: 'wasm', reject: false });
  if (!outcome.ok) expect.fail(`${outcome.error.code}: ${outcome.error.message}`);
  return outcome;
}

test('memory_peak_bytes includes only the memory of its own call', async () => {
  const before = (await run('r = 1')).usage.memory_peak_bytes;
  const grown = (await run('r = len(bytearray(8 * 1024 * 1024))')).usage.memory_peak_bytes;
  const after = (await run('r = 1')).usage.memory_peak_bytes;
  expect(grown).toBeGreaterThanOrEqual(before + 7 * MIB);
  expect(after).toBe(before);
});

test('calls in a row that touch 400 of 448 MiB all succeed', async () => {
  for (let call = 0; call < 6; call++)
    expect((await run(`r = len(b"x" * (400 * ${MIB}))`)).result).toBe(400 * MIB);
});

test('the monotonic clock starts with the call and continues after what the module body saw', async () => {
  const code = 'import time\nr = [LOADED, time.monotonic()]';
  const [loaded] = (await run(code)).result as [number, number];
  // The process keeps running in between, and the call must not notice that.
  await new Promise((resolve) => setTimeout(resolve, 1500));
  const began = performance.now();
  const [again, start] = (await run(code)).result as [number, number];
  const took = (performance.now() - began) / 1000;
  expect(again).toBe(loaded);
  expect(start).toBeGreaterThanOrEqual(loaded);
  expect(start - loaded).toBeLessThanOrEqual(took);
});

test('monotonic and CPU time go in steps of 100 microseconds', async () => {
  const code = `import time
seen = {clock() for clock in (time.monotonic_ns, time.perf_counter_ns, time.process_time_ns) for _ in range(3000)}
r = [len(seen) > 1, sorted({value % 100_000 for value in seen}), time.get_clock_info("monotonic").resolution]`;
  expect((await run(code)).result).toEqual([true, [0], 0.0001]);
});

test('process_time does not include sleep', async () => {
  const code = `import time
wall, cpu = time.monotonic(), time.process_time()
time.sleep(0.5)
r = [time.monotonic() - wall >= 0.499, time.process_time() - cpu < 0.4]`;
  expect((await run(code)).result).toEqual([true, true]);
});
