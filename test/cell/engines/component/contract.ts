/**
 * The contract of every Wasm cell, behind any wall.
 *
 * @module
 */
import { afterAll, describe, expect, test } from 'vitest';
import type { RuntimeOptions } from '../../../../src/index.ts';
import type { WallName } from '../../../../src/vocabulary/walls.ts';
import { openTestRuntime } from '../../test-runtime.ts';
import { WasmBench } from './bench.ts';
import * as programs from './programs.ts';

export function wasmContract(name: string, wall: WallName, options: RuntimeOptions): void {
  describe(name, () => {
    const { runtime, folder, close } = openTestRuntime(options);
    const bench = new WasmBench(runtime, folder);
    afterAll(close);

    describe('results', () => resultContract(bench, wall));
    describe('freshness', () => freshnessContract(bench));
    describe('limits', () => limitContract(bench));
    describe('failures', () => failureContract(bench));
    describe('denials', () => denialContract(bench));
  });
}

function resultContract(bench: WasmBench, wall: WallName): void {
  test('a result is returned unchanged', async () => {
    const echo = bench.skill(programs.ECHO);
    const value = {
      text: 'äß €uro 𝄞 😀 \u0000 \u2028 "quoted" \\ \n\t\u001b[31m',
      numbers: [0, -1, 1.5, 1e300, Number.MAX_SAFE_INTEGER],
      empty: { list: [], object: {}, text: '' },
    };
    const outcome = await bench.succeed(echo, value);
    expect(outcome.result).toEqual(value);
    expect(outcome.execution?.wall).toBe(wall);
    expect(outcome.usage.fuel).toBeGreaterThan(0);
    expect(outcome.usage.memory_peak_bytes).toBe(2 * 65_536);
  });

  test('output on stderr goes to the log and never becomes a result', async () => {
    const outcome = await bench.succeed(bench.skill(programs.LOGS));
    expect([outcome.result, outcome.logs]).toEqual(['fine', '"fine"']);
  });

  test('a result with a duplicate key is an error', async () => {
    const { error } = await bench.fail(bench.skill(programs.GARBAGE));
    expect(error).toMatchObject({ code: 'skill_error' });
    expect(error.message).toContain('occurs twice');
  });
}

function freshnessContract(bench: WasmBench): void {
  test('every call starts with fresh globals and memory', async () => {
    const counter = bench.skill(programs.COUNTER);
    const starts = [];
    for (let call = 0; call < 5; call++) {
      const { result, execution } = await bench.succeed(counter);
      expect(result).toBe(3011);
      starts.push(execution?.start);
    }
    // Its first process may have waited for a skill.
    expect(starts).toEqual([expect.stringMatching(/^(?:cold|pool)$/), 'warm', 'warm', 'warm', 'warm']);
  });

  test('the same call always costs the same fuel', async () => {
    const counter = bench.skill(programs.COUNTER);
    const fuel = new Set<number>();
    for (let call = 0; call < 5; call++) fuel.add((await bench.succeed(counter, { n: 1 })).usage.fuel);
    expect(fuel.size).toBe(1);
  });

  test('a component gets its parameters as text in a fresh instance, for the same fuel each time', async () => {
    const echo = bench.skill(programs.COMPONENT_ECHO);
    const fuel = new Set<number>();
    for (let call = 0; call < 5; call++) {
      const { result, usage } = await bench.succeed(echo, { call, text: 'ä😀' });
      expect(result).toEqual({ call, text: 'ä😀' });
      fuel.add(usage.fuel);
    }
    expect(fuel.size).toBe(1);
  });

  test('concurrent calls do not see each other', async () => {
    const echo = bench.skill(programs.ECHO);
    const calls = Array.from(
      { length: 24 },
      async (_, number) => (await bench.succeed(echo, { number })).result,
    );
    expect(await Promise.all(calls)).toEqual(Array.from({ length: 24 }, (_, number) => ({ number })));
  });
}

function limitContract(bench: WasmBench): void {
  test.each([
    ['spins', programs.SPIN],
    ['fills memory', programs.FILL],
    ['calls its own tail', programs.TAIL_CALLS],
    ['waits on a clock', programs.SLEEP],
  ])('a guest that %s is killed at its timeout', async (_, binary) => {
    const skill = bench.skill(binary, { limits: { timeout: '5s', cpu: '600s' } });
    const { error } = await bench.fail(skill);
    expect(error).toMatchObject({ code: 'resource_exceeded', detail: { limit: 'timeout' } });
  });

  test('a guest that spins runs out of CPU time or fuel long before its timeout', async () => {
    const skill = bench.skill(programs.SPIN, { limits: { timeout: '25s', cpu: '200ms' } });
    const { error } = await bench.fail(skill);
    expect(error.code).toBe('resource_exceeded');
    expect(['cpu', 'fuel']).toContain(error.detail['limit']);
  });

  test('fuel always runs out at the same place', async () => {
    const skill = bench.skill(programs.SPIN, { limits: { timeout: '25s', cpu: '1ms' } });
    const fuel = new Set<number>();
    for (let call = 0; call < 3; call++) {
      const { error, usage } = await bench.fail(skill);
      expect(error.detail['limit']).toBe('fuel');
      fuel.add(usage.fuel);
    }
    expect(fuel.size).toBe(1);
  });

  test('the work of start functions counts towards the call that runs them', async () => {
    // More than a millisecond's work on any machine, and less than a second's.
    const work = `(local $left i32) (local.set $left (i32.const 50000000))
      (loop $more (br_if $more (local.tee $left (i32.sub (local.get $left) (i32.const 1)))))`;
    const skill = bench.skill(programs.componentEcho({ start: work }));
    const idle = await bench.succeed(bench.skill(programs.COMPONENT_ECHO), {});
    for (let call = 0; call < 3; call++) {
      const { usage } = await bench.succeed(skill, {});
      expect(usage.fuel).toBeGreaterThan(50_000_000);
      expect(idle.usage.fuel).toBeLessThan(50_000_000);
      // From the second call on, they are not run again, but their effect is still there.
      if (call === 0) expect(usage.cpu_ms).toBeGreaterThan(5);
    }
  });

  test('a start function that never ends runs out of fuel in every call', async () => {
    const start = '(loop $for_ever (br $for_ever))';
    const skill = bench.skill(programs.componentEcho({ start }), { limits: { timeout: '25s', cpu: '50ms' } });
    for (let call = 0; call < 3; call++) {
      const outcome = await bench.run(skill, {});
      expect(outcome).toMatchObject({
        ok: false,
        error: { code: 'resource_exceeded', detail: { limit: 'fuel' } },
      });
    }
  });

  test('a guest that grows beyond the memory limit is killed', async () => {
    const { error } = await bench.fail(bench.skill(programs.GROW, { limits: { memory: '8MiB' } }));
    expect(error).toMatchObject({ code: 'resource_exceeded', detail: { limit: 'memory' } });
  });

  test.each([
    ['traps', programs.growAtOnce('(unreachable)')],
    ['exits', programs.growAtOnce('(call $exit (i32.const 134))')],
    [
      'traps for want of a table',
      programs.growAtOnce('(unreachable)', 2, '(table.grow $table (ref.null func) (i32.const 1000000))'),
    ],
  ])(
    'a guest that fails to allocate much memory at once and %s has exceeded the memory limit',
    async (_, binary) => {
      const { error } = await bench.fail(bench.skill(binary, { limits: { memory: '8MiB' } }));
      expect(error).toMatchObject({ code: 'resource_exceeded', detail: { limit: 'memory' } });
    },
  );

  test('a component that fails to allocate much memory at once has exceeded the memory limit', async () => {
    const growth = '(if (i32.eq (memory.grow (i32.const 1024)) (i32.const -1)) (then (unreachable)))';
    const skill = bench.skill(programs.componentEcho({ first: growth }), { limits: { memory: '8MiB' } });
    const outcome = await bench.run(skill, { go: true });
    expect(outcome).toMatchObject({
      ok: false,
      error: { code: 'resource_exceeded', detail: { limit: 'memory' } },
    });
    expect((await bench.succeed(skill, {})).result).toEqual({});
  });

  test('a guest that copes with a failed allocation succeeds', async () => {
    const limits = { limits: { memory: '8MiB' } };
    expect((await bench.succeed(bench.skill(programs.growAtOnce(''), limits))).result).toBe('fine');
    const granted = bench.skill(programs.growAtOnce('(unreachable)'), { limits: { memory: '128MiB' } });
    expect((await bench.succeed(granted)).result).toBe('fine');
  });

  test("a trap at the module's own maximum is not reported as a limit of the call", async () => {
    const skill = bench.skill(programs.growAtOnce('(unreachable)', '2 3'), { limits: { memory: '8MiB' } });
    const { error } = await bench.fail(skill);
    expect(error).toMatchObject({ code: 'skill_error' });
  });

  test('a binary that declares more memory than the limit is refused', async () => {
    const binary = programs.command({ body: '', pages: 200 });
    const outcome = await bench.run(bench.skill(binary, { limits: { memory: '8MiB' } }));
    expect(outcome).toMatchObject({
      ok: false,
      error: { code: 'resource_exceeded', detail: { limit: 'memory' } },
    });
  });

  test.each(['$print', '$log'] as const)(
    'a guest that prints forever with %s exceeds its output limit',
    async (where) => {
      const { error } = await bench.fail(bench.skill(programs.flood(where)));
      expect(error).toMatchObject({ code: 'resource_exceeded', detail: { limit: 'output' } });
    },
  );
}

function failureContract(bench: WasmBench): void {
  test.each([
    ['a trap', programs.TRAP, 'unreachable'],
    ['infinite recursion', programs.RECURSE, 'stack'],
    ['an exit with an error', programs.exit(3), 'exit code 3'],
  ])('%s fails the call with an error that says so', async (_, binary, words) => {
    const { error } = await bench.fail(bench.skill(binary));
    expect(error.code).toBe('skill_error');
    expect(error.message).toContain(words);
  });

  test('an exit without output is an error, not a result', async () => {
    expect((await bench.fail(bench.skill(programs.exit(0)))).error.code).toBe('skill_error');
  });

  test('a caller can cancel a running call', async () => {
    const skill = bench.skill(programs.SLEEP);
    await bench.succeed(skill, {});
    const { error } = await bench.fail(skill, { signal: AbortSignal.timeout(2000) }, {});
    expect(error).toMatchObject({ code: 'cancelled' });
  });
}

function denialContract(bench: WasmBench): void {
  test('a guest sees the bundle folder and no variables', async () => {
    expect((await bench.succeed(bench.skill(programs.GIVEN))).result).toBe(100);
    const env = { env_vars: { TEST_DECLARED: { required: true } } };
    expect((await bench.succeed(bench.skill(programs.GIVEN, env))).result).toBe(101);
  });

  test.each([
    ['a file of the bundle', 'manifest.yaml', 0],
    ['a path up and out', '../../etc/passwd', 76],
    ['an absolute path', '/etc/passwd', 76],
    ['what is not there', 'none', 44],
  ])('opening %s gets the expected errno', async (_, path, errno) => {
    const { result, capabilities } = await bench.succeed(bench.skill(programs.openPath(path, 'read')));
    expect([errno, 63]).toContain(result);
    if (errno === 0) expect(capabilities.used).toMatchObject([{ asked: 'read /skill/manifest.yaml' }]);
  });

  test.each(['ws', 'wss'])(
    'a network rule for %s is refused, because it would have no effect',
    async (scheme) => {
      const network = [{ host: 'example.com' }, { host: 'example.com', scheme }];
      const outcome = await bench.run(bench.skill(programs.ECHO, { capabilities: { network } }));
      expect(outcome).toMatchObject({
        ok: false,
        error: { code: 'unenforceable', detail: { fields: ['network.websocket'] } },
      });
    },
  );

  test('writing to the bundle is denied and recorded', async () => {
    const { result, capabilities } = await bench.succeed(bench.skill(programs.openPath('new', 'write')));
    expect(result).toBe(69);
    expect(capabilities.denied).toMatchObject([{ capability: 'filesystem' }]);
  });
}
