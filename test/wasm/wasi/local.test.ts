import { describe, expect, test } from 'vitest';

import { ending, harness, ok, text } from './harness.ts';

describe('clocks', () => {
  test('start with the call and advance in steps of 100 µs (monotonic clock)', () => {
    let time = 5000.04;
    const { use } = harness({ clock: () => time });
    const start = use('clocks/monotonic-clock', 'now') as bigint;
    expect(start).toBe(1_000_000_000n);
    time += 0.09;
    expect(use('clocks/monotonic-clock', 'now')).toBe(start);
    time += 0.02;
    expect(use('clocks/monotonic-clock', 'now')).toBe(start + 100_000n);
    expect(use('clocks/monotonic-clock', 'resolution')).toBe(100_000n);
  });

  test('have a precision of milliseconds (wall clock)', () => {
    const { use } = harness({ now: () => 1_700_000_000_123.9 });
    expect(use('clocks/wall-clock', 'now')).toEqual({ seconds: 1_700_000_000n, nanoseconds: 123_000_000 });
    expect(use('clocks/wall-clock', 'resolution')).toEqual({ seconds: 0n, nanoseconds: 1_000_000 });
  });

  test('have timers that are not ready before their time', async () => {
    const { use } = harness();
    const begun = use('clocks/monotonic-clock', 'now') as bigint;
    const timer = use('clocks/monotonic-clock', 'subscribe-duration', 20_000_000n);
    expect(use('io/poll', '[method]pollable.ready', timer)).toBe(false);
    const never = use('clocks/monotonic-clock', 'subscribe-duration', (1n << 64n) - 1n);
    expect(await use('io/poll', 'poll', [never, timer])).toEqual([1]);
    expect((use('clocks/monotonic-clock', 'now') as bigint) - begun).toBeGreaterThanOrEqual(20_000_000n);
    expect(use('io/poll', '[method]pollable.ready', timer)).toBe(true);
    expect(use('io/poll', '[method]pollable.block', timer)).toBeUndefined();
  });

  test('do not reveal to an instance that was created ahead how long it was idle', () => {
    let time = 0;
    const { use, host } = harness({ clock: () => time });
    const now = (): bigint => use('clocks/monotonic-clock', 'now') as bigint;
    time = 3.7;
    const inStart = now();
    time = 60_000.123;
    host.setStdin(new Uint8Array());
    expect(now()).toBe(inStart);
    time += 5;
    expect(now() - inStart).toBeGreaterThanOrEqual(4_900_000n);
    expect(now() - inStart).toBeLessThanOrEqual(5_000_000n);
  });

  test('have timers that are ready immediately if their time is in the past', () => {
    const { use } = harness();
    const past = use('clocks/monotonic-clock', 'subscribe-instant', 1n);
    expect(use('io/poll', 'poll', [past, past])).toEqual([0, 1]);
  });
});

describe('the random generator', () => {
  test('returns as many bytes as requested, across chunks', () => {
    let filled = 0;
    const { use } = harness({ random: (bytes) => (filled += bytes.fill(7).length) });
    expect(use('random/random', 'get-random-bytes', 100_000n)).toEqual(new Uint8Array(100_000).fill(7));
    expect(filled).toBe(100_000);
    expect(use('random/random', 'get-random-u64')).toBe(0x0707070707070707n);
    expect(use('random/insecure-seed', 'insecure-seed')).toEqual([0x0707070707070707n, 0x0707070707070707n]);
  });

  test('is different every time and capped', async () => {
    const { use } = harness({ limits: { randomBytes: 64 } });
    const draw = (): unknown => use('random/insecure', 'get-insecure-random-bytes', 64n);
    expect(draw()).not.toEqual(draw());
    expect(await ending(() => use('random/random', 'get-random-bytes', 65n))).toEqual({
      kind: 'limit',
      detail: 'random',
    });
    expect(await ending(() => use('random/random', 'get-random-bytes', (1n << 64n) - 1n))).toMatchObject({
      kind: 'limit',
    });
  });
});

describe('the cli interface', () => {
  test('shows only the granted environment and arguments', () => {
    const { use } = harness({ env: { LANG: 'C', KEY: 'placeholder' } });
    expect(use('cli/environment', 'get-environment')).toEqual([
      ['LANG', 'C'],
      ['KEY', 'placeholder'],
    ]);
    expect(use('cli/environment', 'get-arguments')).toEqual(['skill']);
    expect(use('cli/environment', 'initial-cwd')).toBeUndefined();
    expect(use('cli/terminal-stdout', 'get-terminal-stdout')).toBeUndefined();
  });

  test('ends the guest with exit, not the host', async () => {
    const { use } = harness();
    expect(await ending(() => use('cli/exit', 'exit', { ok: undefined }))).toEqual({
      kind: 'exit',
      detail: '0',
    });
    expect(await ending(() => use('cli/exit', 'exit', { err: undefined }))).toEqual({
      kind: 'exit',
      detail: '1',
    });
    expect(await ending(() => use('cli/exit', 'exit-with-code', 7))).toEqual({ kind: 'exit', detail: '7' });
  });

  test('provides the input of the call as stdin, once', () => {
    const { use, host } = harness();
    host.setStdin(Buffer.from('{"a":1}'));
    const stdin = use('cli/stdin', 'get-stdin');
    expect(text(ok(use('io/streams', '[method]input-stream.read', stdin, 3n)))).toBe('{"a');
    expect(text(ok(use('io/streams', '[method]input-stream.blocking-read', stdin, 100n)))).toBe('":1}');
    const closed = { err: { tag: 'closed' } };
    expect(use('io/streams', '[method]input-stream.blocking-read', stdin, 1n)).toEqual(closed);
    expect(use('io/streams', '[method]input-stream.read', stdin, 1n)).toEqual(closed);
  });

  test('applies one limit to stdout, stderr and the log', async () => {
    const { use, output, logs } = harness({ limits: { output: 10 } });
    const stdout = use('cli/stdout', 'get-stdout');
    const stderr = use('cli/stderr', 'get-stderr');
    const write = (stream: unknown, line: string): unknown =>
      use('io/streams', '[method]output-stream.blocking-write-and-flush', stream, Buffer.from(line));
    expect(write(stdout, 'abc')).toEqual({ ok: undefined });
    expect(write(stderr, 'def')).toEqual({ ok: undefined });
    use('skillcell:skill/host', 'log', 'info', 'ghi');
    expect(await ending(() => write(stdout, 'xy'))).toEqual({ kind: 'limit', detail: 'output' });
    expect([output('stdout'), output('stderr'), logs]).toEqual(['abc', 'def', ['info: ghi']]);
  });
});

describe('the interface tables', () => {
  test('are the same for all calls, the state is not', async () => {
    const { wasi, use, host, broker } = harness({ env: { CALL: '1' } });
    const second = wasi.createHost({ broker, env: { CALL: '2' } });
    expect(second.interfaces).toBe(host.interfaces);
    expect(use('cli/environment', 'get-environment')).toEqual([['CALL', '2']]);
    host.finish();
    expect(use('cli/environment', 'get-environment')).toEqual([['CALL', '2']]);
    second.finish();
    expect(await ending(() => use('cli/environment', 'get-environment'))).toMatchObject({ kind: 'trap' });
  });
});
