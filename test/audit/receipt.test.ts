import { describe, expect, it } from 'vitest';
import { makeReceipt } from '../../src/audit/receipt.ts';
import type { ErrorBody } from '../../src/errors.ts';
import { EXAMPLE_CONTEXT, exampleFailure, exampleSuccess } from './example-receipt.ts';

const body = (over: Partial<ErrorBody>): ErrorBody => ({
  code: 'internal',
  message: 'It broke',
  fix: 'Fix it.',
  detail: {},
  ...over,
});

describe('makeReceipt', () => {
  it('keeps the digests but not the parameters or the result', () => {
    const receipt = makeReceipt(exampleSuccess({ result: 'private words' }), {
      ...EXAMPLE_CONTEXT,
      resultDigest: 'sha256:03',
    });
    expect(receipt).toMatchObject({
      code: 'ok',
      params_digest: 'sha256:01',
      result_digest: 'sha256:03',
      grant_digest: 'sha256:02',
      started_at: '1970-01-01T00:00:00.000Z',
      usage: { wall_ms: 12 },
    });
    expect(JSON.stringify(receipt)).not.toContain('private words');
    expect(Object.keys(receipt)).not.toContain('limit');
  });

  it('keeps the parameters and the result if asked', () => {
    const receipt = makeReceipt(exampleSuccess(), { ...EXAMPLE_CONTEXT, params: { a: 1 }, result: 'r' });
    expect(receipt).toMatchObject({ params: { a: 1 }, result: 'r' });
  });

  it('leaves out a message that may quote the skill or its parameters, unless content is kept', () => {
    for (const code of ['skill_error', 'invalid_params'] as const) {
      const outcome = exampleFailure(body({ code, message: 'private words' }));
      expect(makeReceipt(outcome, EXAMPLE_CONTEXT)).not.toHaveProperty('message');
      expect(makeReceipt(outcome, { ...EXAMPLE_CONTEXT, params: {} }).message).toBe('private words');
    }
    expect(makeReceipt(exampleFailure(body({})), EXAMPLE_CONTEXT).message).toBe('It broke');
  });

  it('names the limit that was hit', () => {
    const outcome = exampleFailure(body({ code: 'resource_exceeded', detail: { limit: 'memory' } }));
    expect(makeReceipt(outcome, EXAMPLE_CONTEXT)).toMatchObject({
      code: 'resource_exceeded',
      limit: 'memory',
    });
  });

  it('stays small for a skill with a thousand denials, and keeps the true count', () => {
    const denied = Array.from({ length: 1000 }, () => ({
      capability: 'filesystem' as const,
      asked: `read /${'x'.repeat(10_000)}`,
      declared: 'nothing',
    }));
    const receipt = makeReceipt(exampleSuccess({ capabilities: { used: [], denied } }), EXAMPLE_CONTEXT);
    expect(receipt.denied_count).toBe(1000);
    expect(JSON.stringify(receipt).length).toBeLessThan(100_000);
  });
});
