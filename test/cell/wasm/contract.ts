/**
 * What every Wasm cell must do, whichever wall is around it.
 *
 * @module
 */
import { afterAll, describe, expect, test } from 'vitest';
import type { RuntimeOptions } from '../../../src/index.ts';
import type { WallName } from '../../../src/outcome.ts';
import { openTestRuntime } from '../test-runtime.ts';
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
  test('a result comes back as it was returned', async () => {
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

  test('what is printed for people is a log and never a result', async () => {
    const outcome = await bench.succeed(bench.skill(programs.LOGS));
    expect([outcome.result, outcome.logs]).toEqual(['fine', '"fine"']);
  });

  test('a key that stands twice is no result', async () => {
    const { error } = await bench.fail(bench.skill(programs.GARBAGE));
    expect(error).toMatchObject({ code: 'skill_error' });
    expect(error.message).toContain('stands twice');
  });
}

function freshnessContract(bench: WasmBench): void {
  test('globals and memory start anew with every call', async () => {
    const counter = bench.skill(programs.COUNTER);
    const starts = [];
    for (let call = 0; call < 5; call++) {
      const { result, execution } = await bench.succeed(counter);
      expect(result).toBe(3011);
      starts.push(execution?.start);
    }
    expect(starts).toEqual(['cold', 'warm', 'warm', 'warm', 'warm']);
  });

  test('the same call costs the same fuel, every time', async () => {
    const counter = bench.skill(programs.COUNTER);
    const fuel = new Set<number>();
    for (let call = 0; call < 5; call++) fuel.add((await bench.succeed(counter, { n: 1 })).usage.fuel);
    expect(fuel.size).toBe(1);
  });

  test('a component gets its parameters as text, in an instance of its own, for the same fuel', async () => {
    const echo = bench.skill(programs.COMPONENT_ECHO);
    const fuel = new Set<number>();
    for (let call = 0; call < 5; call++) {
      const { result, usage } = await bench.succeed(echo, { call, text: 'ä😀' });
      expect(result).toEqual({ call, text: 'ä😀' });
      fuel.add(usage.fuel);
    }
    expect(fuel.size).toBe(1);
  });

  test('calls at once do not see each other', async () => {
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
  ])('timeout: a guest that %s ends at its deadline', async (_, binary) => {
    const skill = bench.skill(binary, { limits: { timeout: '1s', cpu: '60s' } });
    const { error } = await bench.fail(skill);
    expect(error).toMatchObject({ code: 'resource_exceeded', detail: { limit: 'timeout' } });
  });

  test('cpu or fuel: a guest that spins is out of work long before its deadline', async () => {
    const skill = bench.skill(programs.SPIN, { limits: { timeout: '25s', cpu: '200ms' } });
    const { error } = await bench.fail(skill);
    expect(error.code).toBe('resource_exceeded');
    expect(['cpu', 'fuel']).toContain(error.detail['limit']);
  });

  test('fuel runs out at the same place every time', async () => {
    const skill = bench.skill(programs.SPIN, { limits: { timeout: '25s', cpu: '1ms' } });
    const fuel = new Set<number>();
    for (let call = 0; call < 3; call++) {
      const { error, usage } = await bench.fail(skill);
      expect(error.detail['limit']).toBe('fuel');
      fuel.add(usage.fuel);
    }
    expect(fuel.size).toBe(1);
  });

  test('the work of start functions counts for the call that they were done for', async () => {
    // More than a millisecond's work on any machine, and less than a second's.
    const work = `(local $left i32) (local.set $left (i32.const 50000000))
      (loop $more (br_if $more (local.tee $left (i32.sub (local.get $left) (i32.const 1)))))`;
    const skill = bench.skill(programs.componentEcho({ start: work }));
    const idle = await bench.succeed(bench.skill(programs.COMPONENT_ECHO), {});
    for (let call = 0; call < 3; call++) {
      const { usage } = await bench.succeed(skill, {});
      expect(usage.fuel).toBeGreaterThan(50_000_000);
      expect(idle.usage.fuel).toBeLessThan(50_000_000);
      // From the second call on they are not run again, but what they left is there.
      if (call === 0) expect(usage.cpu_ms).toBeGreaterThan(5);
    }
  });

  test('a start function that never ends is out of fuel, call after call', async () => {
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

  test('memory', async () => {
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
  ])('memory: a guest that is refused much at once and %s', async (_, binary) => {
    const { error } = await bench.fail(bench.skill(binary, { limits: { memory: '8MiB' } }));
    expect(error).toMatchObject({ code: 'resource_exceeded', detail: { limit: 'memory' } });
  });

  test('memory: a component that is refused much at once', async () => {
    const growth = '(if (i32.eq (memory.grow (i32.const 1024)) (i32.const -1)) (then (unreachable)))';
    const skill = bench.skill(programs.componentEcho({ first: growth }), { limits: { memory: '8MiB' } });
    const outcome = await bench.run(skill, { go: true });
    expect(outcome).toMatchObject({
      ok: false,
      error: { code: 'resource_exceeded', detail: { limit: 'memory' } },
    });
    expect((await bench.succeed(skill, {})).result).toEqual({});
  });

  test('a guest that gets by with the memory it has is fine', async () => {
    const limits = { limits: { memory: '8MiB' } };
    expect((await bench.succeed(bench.skill(programs.growAtOnce(''), limits))).result).toBe('fine');
    const granted = bench.skill(programs.growAtOnce('(unreachable)'), { limits: { memory: '128MiB' } });
    expect((await bench.succeed(granted)).result).toBe('fine');
  });

  test('a trap at a ceiling of its own is no limit of the call', async () => {
    const skill = bench.skill(programs.growAtOnce('(unreachable)', '2 3'), { limits: { memory: '8MiB' } });
    const { error } = await bench.fail(skill);
    expect(error).toMatchObject({ code: 'skill_error' });
  });

  test('memory that is declared beyond the limit', async () => {
    const binary = programs.command({ body: '', pages: 200 });
    const outcome = await bench.run(bench.skill(binary, { limits: { memory: '8MiB' } }));
    expect(outcome).toMatchObject({
      ok: false,
      error: { code: 'resource_exceeded', detail: { limit: 'memory' } },
    });
  });

  test.each(['$print', '$log'] as const)('output: a guest that prints for ever (%s)', async (where) => {
    const { error } = await bench.fail(bench.skill(programs.flood(where)));
    expect(error).toMatchObject({ code: 'resource_exceeded', detail: { limit: 'output' } });
  });
}

function failureContract(bench: WasmBench): void {
  test.each([
    ['a trap', programs.TRAP, 'unreachable'],
    ['recursion without end', programs.RECURSE, 'stack'],
    ['an exit with an error', programs.exit(3), 'exit code 3'],
  ])('%s', async (_, binary, words) => {
    const { error } = await bench.fail(bench.skill(binary));
    expect(error.code).toBe('skill_error');
    expect(error.message).toContain(words);
  });

  test('an exit without a word is no result', async () => {
    expect((await bench.fail(bench.skill(programs.exit(0)))).error.code).toBe('skill_error');
  });

  test('a caller that gives up', async () => {
    const skill = bench.skill(programs.SLEEP);
    await bench.succeed(skill, {});
    const { error } = await bench.fail(skill, { signal: AbortSignal.timeout(2000) }, {});
    expect(error).toMatchObject({ code: 'cancelled' });
  });
}

function denialContract(bench: WasmBench): void {
  test('there is the bundle to read, and no variable', async () => {
    expect((await bench.succeed(bench.skill(programs.GIVEN))).result).toBe(100);
    const env = { env_vars: { TEST_DECLARED: { required: true } } };
    expect((await bench.succeed(bench.skill(programs.GIVEN, env))).result).toBe(101);
  });

  test.each([
    ['a file of the bundle', 'manifest.yaml', 0],
    ['a path up and out', '../../etc/passwd', 76],
    ['an absolute path', '/etc/passwd', 76],
    ['what is not there', 'none', 44],
  ])('opening %s', async (_, path, errno) => {
    const { result, capabilities } = await bench.succeed(bench.skill(programs.openPath(path, 'read')));
    expect([errno, 63]).toContain(result);
    if (errno === 0) expect(capabilities.used).toMatchObject([{ asked: 'read /skill/manifest.yaml' }]);
  });

  test.each(['ws', 'wss'])('a rule for %s, which would grant nothing, stops the load', async (scheme) => {
    const network = [{ host: 'example.com' }, { host: 'example.com', scheme }];
    const outcome = await bench.run(bench.skill(programs.ECHO, { capabilities: { network } }));
    expect(outcome).toMatchObject({
      ok: false,
      error: { code: 'unenforceable', detail: { fields: ['network.websocket'] } },
    });
  });

  test('writing into the bundle is refused, and on record', async () => {
    const { result, capabilities } = await bench.succeed(bench.skill(programs.openPath('new', 'write')));
    expect(result).toBe(69);
    expect(capabilities.denied).toMatchObject([{ capability: 'filesystem' }]);
  });
}
