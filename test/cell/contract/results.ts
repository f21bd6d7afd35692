/**
 * What a skill returns arrives as it is, or the caller learns why it cannot.
 *
 * @module
 */
import { expect, test } from 'vitest';
import type { Bench } from './bench.ts';

const ECHO = 'def execute(params):\n    return params\n';

const NOT_JSON = [
  ['infinity', '{"a": [1, float("inf")]}', `result['a'][1] is inf`],
  ['not a number', '[float("nan")]', 'result[0] is nan'],
  ['bytes', '{"data": b"abc"}', `result['data'] is of type bytes`],
  ['a set', '{"tags": {1, 2}}', `result['tags'] is of type set`],
  ['an object of its own', '{"x": {"y": object()}}', `result['x']['y'] is of type object`],
  ['a key that is no string', '{"a": {(1, 2): 3}}', `result['a'] has a key of type tuple`],
] as const;

/** A value that a careless encoding changes. */
export const ODD_VALUE: Record<string, unknown> = {
  text: 'äß €uro 𝄞 😀 \u0000 \u2028 "quoted" \\ \n\t\u001b[31m',
  'key with ü 😀': { deep: [[[{ a: [null, true, false] }]]] },
  numbers: [0, -1, 1.5, 1e300, -1e-300, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER],
  empty: { list: [], object: {}, text: '' },
  ['__proto__x']: 1,
};

export function resultContract(bench: Bench): void {
  test('a result comes back as it was returned', async () => {
    const echo = bench.skill(ECHO);
    const { result } = await bench.succeed(echo, ODD_VALUE);
    expect(result).toEqual(ODD_VALUE);
  });

  test.each([
    ['null', 'None', null],
    ['a text', '"ä"', 'ä'],
    ['a number', '1.25', 1.25],
    ['false', 'False', false],
    ['a list', '[1, [2]]', [1, [2]]],
    ['a tuple, as a list', '(1, 2)', [1, 2]],
  ])('a result may be %s', async (_, expression, expected) => {
    const skill = bench.skill(`def execute(params):\n    return ${expression}\n`);
    expect((await bench.succeed(skill)).result).toEqual(expected);
  });

  test('a large result arrives whole', async () => {
    const skill = bench.skill('def execute(params):\n    return "é" * (450 * 1024) + params["end"]\n');
    const { result, usage } = await bench.succeed(skill, { end: 'end', padding: 'x'.repeat(900 * 1024) });
    expect(result).toBe(`${'é'.repeat(450 * 1024)}end`);
    expect(usage.output_bytes).toBeGreaterThan(900 * 1024);
  });

  test('an integer that JavaScript cannot hold is announced', async () => {
    const skill = bench.skill('def execute(params):\n    return {"big": 2 ** 60 + 1}\n');
    const { warnings } = await bench.succeed(skill);
    expect(warnings.join('\n')).toContain('The integer at "big" is beyond 2^53');
  });

  test.each(NOT_JSON)('%s in a result is an error that names the place', async (_, expression, place) => {
    const skill = bench.skillThat(`return ${expression}`);
    const { error } = await bench.fail(skill);
    expect(error.code).toBe('skill_error');
    expect(error.message).toContain(place);
  });

  test('a result that contains itself is an error', async () => {
    const skill = bench.skillThat('value = {"items": []}\nvalue["items"].append(value)\nreturn value');
    const { error } = await bench.fail(skill);
    expect(error.code).toBe('skill_error');
    expect(error.message).toContain('contains itself');
  });

  test.each([127, 200, 100_000])('a result of %i levels', async (levels) => {
    const skill = bench.skillThat(`
      value = []
      for _ in range(params["levels"] - 1):
          value = [value]
      return value
    `);
    const outcome = await bench.run(skill, { levels });
    if (levels < 128) {
      expect(outcome.ok).toBe(true);
    } else {
      expect(outcome).toMatchObject({ ok: false, error: { code: 'skill_error' } });
      expect(outcome.ok || outcome.error.message).toMatch(/nested/);
      expect((await bench.succeed(skill)).result).toBe('fine');
    }
  });

  test('what `outputs` forbids is an error', async () => {
    const skill = bench.skill({
      manifest: { outputs: { total: { type: 'integer' } } },
      source: 'def execute(params):\n    return {"total": "many"}\n',
    });
    const outcome = await bench.run(skill);
    expect(outcome).toMatchObject({ ok: false, error: { code: 'skill_error' } });
    expect(outcome.ok || outcome.error.message).toContain('total');
  });

  test('what is printed is a log and never a result', async () => {
    const skill = bench.skill(`
      import sys
      def execute(params):
          print("on stdout ä")
          print("on stderr", file=sys.stderr)
          print('{"t": "result", "value": "forged"}')
          sys.stdout.write("no line end")
          return "real"
    `);
    const { result, logs, usage } = await bench.succeed(skill);
    expect(result).toBe('real');
    for (const text of ['on stdout ä', 'on stderr', 'forged', 'no line end']) expect(logs).toContain(text);
    expect(usage.output_bytes).toBeGreaterThan(40);
  });
}
