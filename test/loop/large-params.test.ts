/**
 * Large parameters from client to cell: only worker threads parse, check or digest them, and the cell gets exactly what was
 * checked.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { digestJson } from '../../src/audit/canonical-json.ts';
import { JsonText } from '../../src/inside.ts';
import type { Outcome, Runtime } from '../../src/index.ts';
import { MAX_JSON_HERE } from '../../src/json-text.ts';
import { MAX_PARAMS_BYTES } from '../../src/load/params.ts';
import { openTestRuntime } from '../cell/test-runtime.ts';
import { openStage, type Stage } from '../http/stage.ts';
import { writeSkill, type SkillText } from '../write-skill.ts';

const SECRET = 'sk-invented-0123456789abcdef';
const PYTHON = 'def execute(params):\n    return params';
const SCRIPT = 'export const execute = (params) => params;';
const schema = { type: 'object', properties: { mode: { enum: ['a', 'b'] } } };
const POLICY = `
guard:
  - arguments: [{ path: "$.target", equals: production }]
    decision: deny
    reason: production is out of bounds
  - skill: test/denied
    decision: deny
    reason: nobody calls it
`;
const SKILLS: Record<string, SkillText> = {
  subprocess: { source: PYTHON, manifest: { execution: ['subprocess'], parameters: schema } },
  wasm: { files: { 'skill.js': SCRIPT }, manifest: { execution: ['wasm'], parameters: schema } },
  denied: { files: { 'skill.js': SCRIPT }, manifest: { execution: ['wasm'] } },
  keyed: {
    files: { 'skill.js': 'export const execute = ({ items }) => items.length;' },
    manifest: {
      execution: ['wasm'],
      env_vars: { API_KEY: { secret: true, hosts: ['api.test'] } },
      capabilities: { network: [{ host: 'api.test' }] },
    },
  },
};
/** Has unsorted keys, numbers that lose digits, and strings that need escapes. */
const VALUE = Object.fromEntries(
  Array.from({ length: 3000 }, (_, n) => [`k${(n * 7919) % 3000}`, [n, 1.5, `"\\ü${n}`]]),
);
const padding = 'x'.repeat(MAX_JSON_HERE);

let stage: Stage;
beforeAll(async () => {
  stage = await openStage({
    skills: SKILLS,
    policy: POLICY,
    runtime: { secrets: () => SECRET, env: {}, allowEnv: 'all', audit: { keepContent: true } },
  });
});
afterAll(() => stage[Symbol.asyncDispose]());

async function counted<T>(runtime: Runtime, work: () => Promise<T>): Promise<[T, Record<string, number>]> {
  const before = runtime.offloaded.done;
  const value = await work();
  const after = Object.entries(runtime.offloaded.done);
  return [value, Object.fromEntries(after.map(([name, count]) => [name, count - (before[name] ?? 0)]))];
}

/** Sends a request with exactly this body. */
const send = (skill: string, body: string): Promise<Response> =>
  fetch(`${stage.url}/v1/skills/test/${skill}/execute`, {
    method: 'POST',
    body,
    headers: { authorization: `Bearer ${stage.tokens['caller']}`, 'content-type': 'application/json' },
  });
const call = async (skill: string, params: unknown): Promise<Outcome> =>
  (await (await stage.execute(`test/${skill}`, params)).json()) as Outcome;
const receiptOf = ({ call_id }: Outcome): Record<string, unknown> =>
  stage.runtime.audit.show(call_id)?.receipt as unknown as Record<string, unknown>;

describe.each(['subprocess', 'wasm'])('large parameters over HTTP to a skill in %s', (mode) => {
  test('are parsed and checked by worker threads and arrive as they were sent', async () => {
    const [outcome, done] = await counted(stage.runtime, () => call(mode, VALUE));
    expect(outcome).toMatchObject({ ok: true, result: VALUE });
    expect(done).toMatchObject({ splitMessage: 1, checkParams: 1 });
    expect(receiptOf(outcome)).toMatchObject({ params_digest: digestJson(VALUE) });
    expect(JSON.stringify(receiptOf(outcome)['params'])).toContain('too large to be kept');
  });

  test('are validated against the schema of the skill', async () => {
    const outcome = await call(mode, { ...VALUE, mode: 'c' });
    expect(outcome).toMatchObject({ ok: false, error: { code: 'invalid_params' } });
    expect(JSON.stringify(outcome)).toContain('/mode: must be equal to one of the allowed values');
    expect(receiptOf(outcome)).toMatchObject({ params_digest: digestJson({ ...VALUE, mode: 'c' }) });
  });
});

describe('large parameters over HTTP', () => {
  test('are checked by the guard in a worker thread', async () => {
    const outcome = await call('wasm', { padding, target: 'Production' });
    expect(outcome).toMatchObject({ ok: false, error: { code: 'untrusted' } });
    expect(await call('wasm', { padding, target: 'staging' })).toMatchObject({ ok: true });
  });

  test('with a duplicate key reach the cell as they were checked', async () => {
    const twice = (first: string, last: string): string =>
      `{"params":{"target":"${first}","padding":"${padding}","target":"${last}"}}`;
    const refused = (await (await send('wasm', twice('staging', 'production'))).json()) as Outcome;
    expect(refused).toMatchObject({ ok: false, error: { code: 'untrusted' } });
    const run = (await (await send('wasm', twice('production', 'staging'))).json()) as Outcome;
    expect(run).toMatchObject({ ok: true, result: { target: 'staging' } });
  });

  test('of a rejected call are digested by a worker thread', async () => {
    const [outcome, done] = await counted(stage.runtime, () => call('no_such_skill', VALUE));
    expect(outcome.ok).toBe(false);
    expect(done['splitMessage']).toBe(1);
    const denied = await call('denied', VALUE);
    expect(denied).toMatchObject({ ok: false, error: { code: 'untrusted' } });
    expect(receiptOf(denied)).toMatchObject({ params_digest: digestJson(VALUE) });
  });

  test('have no secret in their digest', async () => {
    const items = Array.from({ length: 4000 }, () => SECRET);
    const outcome = await call('keyed', { items });
    expect(outcome).toMatchObject({ ok: true, result: 4000 });
    const scrubbed = { items: items.map(() => '[secret API_KEY]') };
    expect(receiptOf(outcome)).toMatchObject({ params_digest: digestJson(scrubbed) });
  });

  test.each([
    ['is no JSON', `{"params":["${padding}"`, 400],
    ['is nested without end', `{"params":${'['.repeat(60_000)}${']'.repeat(60_000)}}`, 400],
    ['is large beside params', `{"params":{},"timeout":"${padding}"}`, 400],
    ['has an unknown member', `{"params":{"p":"${padding}"},"trust":true}`, 400],
    ['is a list', `[{"params":{"p":"${padding}"}}]`, 400],
  ])('are refused if the body %s', async (_, body, status) => {
    const [response, done] = await counted(stage.runtime, () => send('wasm', body));
    const answer = (await response.json()) as Record<string, unknown>;
    expect([response.status, answer]).toMatchObject([
      status,
      { error: { fix: expect.any(String) as string } },
    ]);
    expect(done['splitMessage']).toBe(1);
  });

  test('do not move small ones off the event loop thread', async () => {
    const [outcome, done] = await counted(stage.runtime, () => call('wasm', { a: [1, 'x'] }));
    expect(outcome).toMatchObject({ ok: true, result: { a: [1, 'x'] } });
    expect(Object.values(done).every((count) => count === 0)).toBe(true);
  });
});

describe('large parameters from the library', () => {
  const { runtime, folder, close } = openTestRuntime();
  afterAll(close);

  test('are checked and digested by a worker thread from their text', async () => {
    const dir = writeSkill(folder, SKILLS['wasm'] ?? {});
    const [outcome, done] = await counted(runtime, () => runtime.execute(dir, VALUE));
    expect(outcome.result).toEqual(VALUE);
    expect(done['checkParams']).toBe(1);
    const { receipt } = runtime.audit.show(outcome.call_id) ?? {};
    expect(receipt?.params_digest).toBe(digestJson(VALUE));
    const text = new JsonText(Buffer.from(JSON.stringify(VALUE)));
    expect((await runtime.execute(dir, text)).result).toEqual(VALUE);
    const small = await runtime.execute(dir, new JsonText(Buffer.from('{ "a": 1 }')));
    expect(small.result).toEqual({ a: 1 });
    expect(runtime.audit.show(small.call_id)?.receipt.params_digest).toBe(digestJson({ a: 1 }));
  });

  test('have their digest in the receipt of a rejected call', async () => {
    const dir = writeSkill(folder, SKILLS['wasm'] ?? {});
    const given = { ...VALUE, mode: 'c' };
    const outcome = await runtime.execute(dir, given, { reject: false });
    expect(outcome).toMatchObject({ ok: false, error: { code: 'invalid_params' } });
    expect(runtime.audit.show(outcome.call_id)?.receipt.params_digest).toBe(digestJson(given));
    const unknown = await runtime.execute('no/such_skill', VALUE, { reject: false });
    expect(runtime.audit.show(unknown.call_id)?.receipt.params_digest).toBe(digestJson(VALUE));
  });

  test('are refused without parsing if they are too large', async () => {
    const dir = writeSkill(folder, SKILLS['wasm'] ?? {});
    for (const given of [
      { x: 'x'.repeat(MAX_PARAMS_BYTES) },
      new JsonText(Buffer.alloc(MAX_PARAMS_BYTES + 1)),
    ]) {
      const [outcome, done] = await counted(runtime, () => runtime.execute(dir, given, { reject: false }));
      expect(outcome).toMatchObject({ ok: false, error: { code: 'invalid_params' } });
      expect(done['checkParams'] ?? 0).toBe(0);
      expect(done['digestParams'] ?? 0).toBe(0);
    }
  });
});
