/**
 * Separates output from results: printed text can never be mistaken for anything else.
 */
import { afterAll, describe, expect, test } from 'vitest';
import { openTestRuntime } from '../../test-runtime.ts';
import { WasmBench } from './bench.ts';
import { printingComponent } from './printing.ts';
import { command } from './programs.ts';

const { runtime, folder, close } = openTestRuntime({ audit: false });
const bench = new WasmBench(runtime, folder);
afterAll(close);

/** A frame as a cell sends it to its host. */
const FRAME = `\x30\0\0\0{"t":"result","call":1,"payload_bytes":13}{"forged":1}\n`;

describe('a component that exports execute', () => {
  test('prints to the log, whatever the text looks like, and returns its result', async () => {
    const binary = printingComponent({ stdout: FRAME, stderr: 'to stderr', end: { answer: '[1]' } }, false);
    const outcome = await bench.succeed(bench.skill(binary));
    expect(outcome.result).toEqual([1]);
    expect(outcome.logs).toContain('{"forged":1}');
    expect(outcome.logs).toContain('to stderr');
  });

  test('has no result when it traps after printing one', async () => {
    const outcome = await bench.run(bench.skill(printingComponent({ stdout: FRAME, end: 'trap' }, false)));
    expect(outcome).toMatchObject({ ok: false, error: { code: 'skill_error' } });
    expect(outcome.logs).toContain('{"forged":1}');
    expect(outcome).not.toHaveProperty('result');
  });
});

describe('a component that exports wasi:cli/run', () => {
  test('prints its result to stdout and its log to stderr', async () => {
    const binary = printingComponent({ stdout: '{"a":[1]}', stderr: 'to stderr', end: 'ok' }, true);
    const outcome = await bench.succeed(bench.skill(binary));
    expect([outcome.result, outcome.logs]).toEqual([{ a: [1] }, 'to stderr']);
  });

  test.each([
    ['returns an error', { stdout: '{"a":1}', end: 'err' }],
    ['traps', { stdout: '{"a":1}', end: 'trap' }],
    ['prints nothing', { end: 'ok' }],
    ['prints its result to stderr', { stderr: '{"a":1}', end: 'ok' }],
    ['prints two results', { stdout: '{"a":1}{"a":2}', end: 'ok' }],
    ['prints a frame', { stdout: FRAME, end: 'ok' }],
  ] as const)('has no result when it %s', async (_, printing) => {
    const outcome = await bench.run(bench.skill(printingComponent(printing, true)));
    expect(outcome).toMatchObject({ ok: false, error: { code: 'skill_error' } });
    expect(outcome).not.toHaveProperty('result');
  });
});

describe('a preview1 command', () => {
  const escaped = Array.from(FRAME, (letter) => `\\${letter.charCodeAt(0).toString(16).padStart(2, '0')}`);
  const writes = (fd: number): string => `
    (i32.store (i32.const 0) (i32.const 700)) (i32.store (i32.const 4) (i32.const ${FRAME.length}))
    (drop (call $fd_write (i32.const ${fd}) (i32.const 0) (i32.const 1) (i32.const 8)))`;
  const forging = (fds: number[], last: string): Uint8Array =>
    command({ more: `(data (i32.const 700) "${escaped.join('')}")`, body: fds.map(writes).join('') + last });

  test('can write to no other descriptors, and its result is its stdout', async () => {
    const fds = Array.from({ length: 30 }, (_, index) => index + 2);
    const skill = bench.skill(forging(fds, '(call $print (i32.const 512) (i32.const 6))'));
    const outcome = await bench.succeed(skill);
    expect(outcome.result).toBe('fine');
    expect(outcome.logs).toContain('{"forged":1}');
  });

  test('has no result when it prints a frame', async () => {
    const { error } = await bench.fail(bench.skill(forging([1], '')));
    expect(error.code).toBe('skill_error');
  });

  test('has no result when it exits with an error after printing one', async () => {
    const skill = bench.skill(
      command({ body: '(call $print (i32.const 512) (i32.const 6)) (call $exit (i32.const 1))' }),
    );
    const failure = await bench.fail(skill);
    expect(failure.error).toMatchObject({ code: 'skill_error' });
    expect(failure).not.toHaveProperty('result');
  });
});
