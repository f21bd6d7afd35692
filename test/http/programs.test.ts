/**
 * Programs over HTTP.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStage, type Stage } from './stage.ts';

const LONG = 120_000;
const DOUBLE = {
  manifest: { execution: ['wasm'], parameters: { type: 'object' } },
  files: { 'skill.ts': 'export const execute = ({ n }: { n: number }) => ({ n: n * 2 });' },
};
const SOURCE = 'const { n } = await skills.test.double({ n: input.n }); console.log("almost"); return n;';
const PROGRAM = { source: SOURCE, skills: ['test/*'], input: { n: 21 } };
let stage: Stage;
let closed: Stage;

beforeAll(async () => {
  const limits = { tenants: { umbrella: { quota: { per: '1h', calls: 3 } } } };
  stage = await openStage({ skills: { double: DOUBLE }, listen: { programs: true }, limits });
  closed = await openStage({ skills: { double: DOUBLE } });
}, LONG);
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
  await closed[Symbol.asyncDispose]();
});

const post = (json: unknown, more: object = {}, at: Stage = stage): Promise<Response> =>
  at.ask('/v1/programs', { method: 'POST', as: 'caller', json, ...more });

describe('POST /v1/programs', () => {
  test('runs a program, and lists the calls inside', { timeout: LONG }, async () => {
    const response = await post(PROGRAM);
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      ok: true,
      result: 42,
      skill: { name: 'program/typescript' },
      children: [{ skill: 'test/double', depth: 1, code: 'ok' }],
    });
  });

  test('streams the events of the program, and ends with its outcome', { timeout: LONG }, async () => {
    const text = await (await post(PROGRAM, { headers: { accept: 'text/event-stream' } })).text();
    const events = [...text.matchAll(/^event: (\w+)$/gm)].map(([, name]) => name);
    expect(events).toEqual(['accepted', 'started', 'inner', 'inner', 'log', 'done']);
    const inner = [...text.matchAll(/^event: inner\ndata: (.*)$/gm)].map(
      ([, data = '']) => JSON.parse(data) as unknown,
    );
    expect(inner).toMatchObject([
      { inner: { depth: 1, skill: expect.stringContaining('/') } },
      { inner: { depth: 1, code: 'ok', wall_ms: expect.any(Number) } },
    ]);
  });

  test('shows the receipts of the calls inside to the same tenant only', { timeout: LONG }, async () => {
    const { children } = (await (await post(PROGRAM)).json()) as { children: { call_id: string }[] };
    const path = `/v1/receipts/${children[0]?.call_id}`;
    expect((await stage.ask(path, { as: 'reader' })).status).toBe(200);
    expect((await stage.ask(path, { as: 'other' })).status).toBe(404);
  });

  test(
    'is refused without the option, without a token, and with a wrong body',
    { timeout: LONG },
    async () => {
      expect((await post(PROGRAM, {}, closed)).status).toBe(403);
      expect((await post(PROGRAM, { as: undefined })).status).toBe(401);
      expect((await post(PROGRAM, { as: 'reader' })).status).toBe(403);
      for (const wrong of [
        {},
        { ...PROGRAM, language: 'cobol' },
        { ...PROGRAM, trust: true },
        { ...PROGRAM, execution: 'in_process' },
        { source: 'x'.repeat(300_000) },
      ])
        expect((await post(wrong)).status).toBe(400);
      for (const skill of ['test/none', '/etc', './skills', 'bundled:text/word_stats'])
        expect((await post({ ...PROGRAM, skills: [skill] })).status).toBe(404);
    },
  );

  test('runs natively only if the operator allows it', { timeout: LONG }, async () => {
    const response = await post({ ...PROGRAM, execution: 'subprocess' });
    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({
      error: { code: 'capability_denied', fix: expect.stringContaining('native_programs') as unknown },
    });
  });

  test('counts the calls inside for the rates of tenant and skill', { timeout: LONG }, async () => {
    const limits = { skills: { 'test/double': { rate: { calls: 2, per: '1h' } } } };
    await using strict = await openStage({ skills: { double: DOUBLE }, listen: { programs: true }, limits });
    const source = `const codes = [];
      for (let n = 0; n < 4; n++) codes.push(await skills.test.double({ n }).then(() => 'ok', ({ code }) => code));
      return codes;`;
    expect(await (await post({ ...PROGRAM, source }, {}, strict)).json()).toMatchObject({
      result: ['ok', 'ok', 'resource_exceeded', 'resource_exceeded'],
    });
    expect((await strict.execute('test/double', { n: 1 })).status).toBe(429);
  });

  test('counts the calls inside for the quota of the tenant', { timeout: LONG }, async () => {
    const source = 'let made = 0; for (;;) { await skills.test.double({ n: 1 }); made++; }';
    const response = await post({ ...PROGRAM, source }, { as: 'other' });
    expect(response.status).toBe(499);
    expect(await response.json()).toMatchObject({ ok: false, error: { code: 'cancelled' } });
    expect((await post(PROGRAM, { as: 'other' })).status).toBe(429);
  });
});
