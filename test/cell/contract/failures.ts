/**
 * A skill that goes wrong in any way ends in one clear answer, and the next call works.
 *
 * @module
 */
import { expect, test } from 'vitest';
import type { Bench } from './bench.ts';

export function failureContract(bench: Bench): void {
  test('an exception is told with its type and the place in the skill alone', async () => {
    const skill = bench.skill(`
      def execute(params):
          if not params:
              return "fine"
          return deeper(params)
      def deeper(params):
          raise LookupError("no such ä")
    `);
    const { error } = await bench.fail(skill);
    expect(error).toMatchObject({ code: 'skill_error', detail: { type: 'LookupError' } });
    expect(error.message).toContain('no such ä');
    const trace = String(error.detail['trace']);
    expect(trace).toContain('/skill/skill.py", line 6, in deeper');
    expect(trace).not.toContain('_skillcell');
    expect(trace).not.toContain('/harness');
  });

  test('an exception in async code', async () => {
    const skill = bench.skill(`
      async def execute(params):
          if not params:
              return "fine"
          raise ValueError("later")
    `);
    const { error } = await bench.fail(skill);
    expect(error).toMatchObject({ code: 'skill_error', detail: { type: 'ValueError' } });
    expect(error.detail['trace']).not.toContain('_skillcell');
  });

  test('an exception whose text raises', async () => {
    const skill = bench.skillThat(`
      class Odd(Exception):
          def __str__(self):
              raise RuntimeError("no text")
      raise Odd()
    `);
    expect((await bench.fail(skill)).error).toMatchObject({ code: 'skill_error', detail: { type: 'Odd' } });
  });

  test('exit() in the skill', async () => {
    const { error } = await bench.fail(bench.skillThat('import sys\nsys.exit(0)'));
    expect(error.code).toBe('skill_error');
    expect(error.message).toContain('exit(0)');
  });

  test('a process that ends with 0 and without a reply', async () => {
    const { error } = await bench.fail(bench.skillThat('import os\nos._exit(0)'));
    expect(error).toMatchObject({ code: 'skill_error', detail: { exit_code: 0 } });
    expect(error.message).toContain('ended without a result');
  });

  test('a process that ends while it loads', async () => {
    const outcome = await bench.run(bench.skill('import os\nos._exit(3)\n'), {}, { anyStart: true });
    expect(outcome).toMatchObject({ ok: false, error: { code: 'skill_error', detail: { exit_code: 3 } } });
  });

  test('a skill that never reads its parameters', async () => {
    const skill = bench.skill({
      manifest: { limits: { timeout: `${bench.patience + 200}ms` } },
      source: 'import time\ntime.sleep(60)\n',
    });
    const outcome = await bench.run(skill, { big: 'x'.repeat(4 << 20) }, { anyStart: true });
    expect(outcome).toMatchObject({
      ok: false,
      error: { code: 'resource_exceeded', detail: { limit: 'timeout' } },
    });
  });

  test('a skill that closes every descriptor', async () => {
    const { error } = await bench.fail(bench.skillThat('import os\nos.closerange(0, 100)\nreturn "lost"'));
    expect(error.code).toBe('skill_error');
  });

  test('a skill that writes garbage where only the harness writes', async () => {
    const { error } = await bench.fail(bench.skillThat('import os\nos.write(3, b"\\xff" * 64)\nreturn 1'));
    expect(['skill_error', 'resource_exceeded']).toContain(error.code);
  });

  test('a caller that gives up', async () => {
    const skill = bench.skillThat('import time\ntime.sleep(60)');
    // The first call loads the skill, which may take longer than the caller waits here.
    await bench.succeed(skill);
    const outcome = await bench.run(skill, { go: true }, { signal: AbortSignal.timeout(10_000) });
    expect(outcome).toMatchObject({ ok: false, error: { code: 'cancelled' } });
    expect((await bench.succeed(skill)).result).toBe('fine');
  });
}
