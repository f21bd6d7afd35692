/**
 * JSON numbers on their way into a cell and back: none changes silently, and none outgrows a limit.
 *
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRuntime, type Outcome, type Runtime } from '../../src/index.ts';
import { JsonText, parseExact } from '../../src/json-text.ts';
import { MAX_PARAMS_BYTES } from '../../src/load/params.ts';
import { openStage, type Stage } from '../http/stage.ts';
import { openFolder, removeFolder, writeSkill } from '../write-skill.ts';

const ECHO = 'def execute(params):\n    return params\n';
const TAKES = 'def execute(params):\n    return len(params["n"])\n';
// Python's json.dumps writes 1e+20.
const MANY = 'def execute(params):\n    return [1e20] * params["n"]\n';

let folder: string;
let runtime: Runtime;
let stage: Stage;
beforeAll(async () => {
  folder = openFolder();
  runtime = createRuntime({ home: `${folder}/home`, cwd: folder, pool: { size: 0 } });
  stage = await openStage({ skills: { echo: { source: ECHO } } });
});
afterAll(async () => {
  await runtime.close();
  await stage[Symbol.asyncDispose]();
  removeFolder(folder);
});

const text = (json: string): JsonText => new JsonText(Buffer.from(json));
const call = (skill: string, params: unknown): Promise<Outcome> =>
  runtime.execute(skill, params, { reject: false });

describe('parameters that are not plain data', () => {
  const echo = (): string =>
    writeSkill(folder, {
      source: ECHO,
      manifest: { parameters: { type: 'object', properties: { mode: { enum: ['x'] } } } },
    });
  const revoked = (): unknown => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
  };

  test.each([
    ['toJSON returns another value', { mode: 'x', toJSON: () => ({ mode: 'y' }) }],
    ['toJSON returns a string', { mode: 'x', toJSON: () => 'text' }],
    ['a date', new Date(0)],
  ])('are checked as the JSON that the cell gets: %s', async (_, params) => {
    expect(await call(echo(), params)).toMatchObject({ ok: false, error: { code: 'invalid_params' } });
  });

  test('are recorded as the JSON that the cell gets', async () => {
    const skill = writeSkill(folder, { source: ECHO });
    const outcomes = [await call(skill, { a: 1, toJSON: () => ({ a: 2 }) }), await call(skill, { a: 2 })];
    expect(outcomes.map((outcome) => outcome.ok && outcome.result)).toEqual([{ a: 2 }, { a: 2 }]);
    const receipts = outcomes.map(({ call_id: id }) => runtime.audit.show(id)?.receipt.params_digest);
    expect(receipts[0]).toBe(receipts[1]);
  });

  test('are refused with a receipt even if every look at them throws', async () => {
    const outcome = await call(echo(), revoked());
    expect(outcome).toMatchObject({ ok: false, error: { code: 'invalid_params' } });
    expect(runtime.audit.show(outcome.call_id)?.receipt.code).toBe('invalid_params');
  });
});

describe('a number that JavaScript would change', () => {
  test.each(['1e-400', '-1e-400', '1e400', '[9007199254740993]', '{"a\\"1e9":-9007199254740993}'])(
    'is refused in %s',
    (json) => {
      expect(() => parseExact(json)).toThrow(/out of range|would be rounded/);
    },
  );

  test.each([
    '0e-400',
    '1e20',
    '9007199254740992',
    '0.1',
    '0.12345678901234567890',
    '["1e-400"]',
    '"\\\\1e-400"',
  ])('does not occur in %s, which is accepted', (json) => {
    expect(parseExact(json)).toEqual(JSON.parse(json));
  });

  test.each(['1e-400', '1e400', '9007199254740993'])('is refused in parameters: %s', async (number) => {
    const skill = writeSkill(folder, { source: ECHO });
    const small = await call(skill, text(`{"n":${number}}`));
    const large = await call(skill, text(`{"n":${number},"rest":"${'x'.repeat(100_000)}"}`));
    for (const outcome of [small, large])
      expect(outcome).toMatchObject({ ok: false, error: { code: 'invalid_params' } });
    const sent = await fetch(`${stage.url}/v1/skills/test/echo/execute`, {
      method: 'POST',
      body: `{"params":{"n":${number}}}`,
      headers: { authorization: `Bearer ${stage.tokens['caller']}`, 'content-type': 'application/json' },
    });
    expect(await sent.text()).toMatch(/out of range|would be rounded/);
    expect(sent.status).toBe(400);
  });
});

describe('numbers that get longer when they are written again', () => {
  test('count towards the size of parameters as they are sent', async () => {
    const skill = writeSkill(folder, { source: TAKES });
    const numbers = (count: number): JsonText => text(`{"n":[${'1e20,'.repeat(count)}0]}`);
    const fits = Math.floor(MAX_PARAMS_BYTES / 22) - 10;
    expect(await call(skill, numbers(fits))).toMatchObject({ ok: true, result: fits + 1 });
    expect(await call(skill, numbers(fits + 20))).toMatchObject({
      ok: false,
      error: { code: 'invalid_params', message: expect.stringContaining('bytes') as string },
    });
  });

  test.each([
    ['small', 20_000, 1500],
    ['large', 200_000, 15_000],
  ])('count towards the output limit as clients get them, in a %s result', async (_, output, n) => {
    const skill = writeSkill(folder, { source: MANY, manifest: { limits: { output } } });
    expect(await call(skill, { n: n / 2 })).toMatchObject({ ok: true });
    expect(await call(skill, { n })).toMatchObject({
      ok: false,
      error: { code: 'resource_exceeded', detail: { limit: 'output' } },
    });
  });
});
