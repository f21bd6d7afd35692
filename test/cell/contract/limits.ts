/**
 * Every limit holds, is named when it is hit, and leaves the next call alone.
 *
 * @module
 */
import { expect, test } from 'vitest';
import type { Bench, RunOptions } from './bench.ts';

export function limitContract(bench: Bench): void {
  const expectLimit = async (limit: string, skill: string, options: RunOptions = {}): Promise<void> => {
    const { error } = await bench.fail(skill, options);
    expect(error, error.message).toMatchObject({ code: 'resource_exceeded', detail: { limit } });
  };

  test('timeout, asleep', async () => {
    await expectLimit(
      'timeout',
      bench.skillThat('import time\ntime.sleep(60)', { limits: { timeout: `${bench.patience}ms` } }),
    );
  });

  test('timeout, busy and deaf to signals', async () => {
    const skill = bench.skillThat(
      `
        import signal
        for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.SIG_IGN)
        while True:
            pass
      `,
      { limits: { timeout: `${bench.patience}ms` } },
    );
    await expectLimit('timeout', skill);
  });

  test.each([
    ['a huge power', 'return (7 ** 10 ** 8) % 10'],
    ['a regular expression that backtracks', 'import re\nreturn re.match("(a+)+$", "a" * 64 + "b")'],
    ['a sum', 'return sum(range(10 ** 18))'],
  ])('timeout, in C code that never comes back: %s', async (_, body) => {
    await expectLimit(
      'timeout',
      bench.skillThat(body, { limits: { timeout: `${bench.patience}ms`, cpu: '60s' } }),
    );
  });

  test('timeout, lowered by the caller', async () => {
    const skill = bench.skillThat('import time\ntime.sleep(60)');
    await expectLimit('timeout', skill, { timeout: bench.patience });
  });

  test('cpu', async () => {
    await expectLimit(
      'cpu',
      bench.skillThat('while True:\n    pass', { limits: { cpu: '1s', timeout: '20s' } }),
    );
  });

  test('memory of one process', async () => {
    const skill = bench.skillThat(
      `
        held = []
        while True:
            held.append(bytearray(8 << 20))
      `,
      { limits: { memory: '96MiB' } },
    );
    await expectLimit('memory', skill);
  });

  test('output: a result that is too large', async () => {
    await expectLimit('output', bench.skillThat('return "x" * (2 << 20)'));
  });

  test('output: a result just beyond the limit', async () => {
    await expectLimit('output', bench.skillThat('return "x" * 1000', { limits: { output: '1000B' } }));
  });

  test('output: a skill that prints 1 GB', async () => {
    const skill = bench.skillThat(`
      for _ in range(16384):
          print("x" * 65535)
      return "printed all of it"
    `);
    await expectLimit('output', skill);
  });

  test('scratch', async () => {
    const skill = bench.skillThat(
      `
        for number in range(64):
            with open("/tmp/%d" % number, "wb") as file:
                file.write(bytes(1 << 20))
        return "all of it written"
      `,
      { limits: { scratch: '4MiB' } },
    );
    await expectLimit('scratch', skill);
  });

  test('scratch, in one file', async () => {
    const skill = bench.skillThat(
      'with open("/tmp/one", "wb") as file:\n    file.write(bytes(64 << 20))\nreturn "written"',
      { limits: { scratch: '4MiB' } },
    );
    await expectLimit('scratch', skill);
  });
}
