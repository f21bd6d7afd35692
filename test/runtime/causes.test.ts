import { afterAll, expect, test } from 'vitest';
import { SkillError } from '../../src/errors.ts';
import { openTestRuntime } from '../cell/test-runtime.ts';

const { runtime, close } = openTestRuntime({ pool: { size: 0 } });
afterAll(close);

const fault = new TypeError('an invented fault');
const load = (): Promise<never> => Promise.reject(fault);

test('a thrown error keeps its cause', async () => {
  const error: unknown = await runtime.execute('text/word_stats', {}, { load }).catch((thrown) => thrown);
  expect(error).toBeInstanceOf(SkillError);
  expect(error).toMatchObject({ code: 'internal', cause: fault, outcome: { ok: false } });
});

test('an outcome and its receipt do not contain the cause', async () => {
  const outcome = await runtime.execute('text/word_stats', {}, { load, reject: false });
  expect(Object.keys(outcome)).not.toContain('cause');
  const stored = runtime.audit.list({}).find(({ receipt }) => receipt.call_id === outcome.call_id);
  expect(stored).toBeDefined();
  expect(JSON.stringify(stored)).not.toContain('cause');
});
