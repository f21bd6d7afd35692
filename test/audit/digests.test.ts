import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { digestJson } from '../../src/audit/canonical-json.ts';
import { digestCall, digestLazily } from '../../src/audit/digests.ts';
import type { Grant } from '../../src/policy/grant.ts';

const LIMITS = { timeout: 1, cpu: 1, memory: 1, output: 1, processes: 0, scratch: 1 };

function grantWith(env: Record<string, string>): Grant {
  return { filesystem: [], network: [], env, syscalls: 'default', limits: LIMITS, withheld: [] };
}

test('the digest of a grant covers the names of variables, not their values', () => {
  const digest = (env: Record<string, string>): string => digestCall({}, grantWith(env)).grant;
  expect(digest({ TOKEN: 'a' })).toBe(digest({ TOKEN: 'b' }));
  expect(digest({ TOKEN: 'a' })).not.toBe(digest({ OTHER: 'a' }));
});

test('parameters that are not JSON have a digest too', () => {
  const circular: Record<string, unknown> = {};
  circular['self'] = circular;
  expect(digestCall(circular, undefined).params).toMatch(/^sha256:[0-9a-f]{64}$/);
});

test('digests cover the values at the start of a call, and nothing waits for them', async () => {
  const params = { words: ['one'] };
  const expected = digestJson({ words: ['one'] });
  const atOnce = digestLazily(params, grantWith({}))();
  const later = digestLazily(params, grantWith({}));
  await nextTurn();
  params.words.push('two');
  expect([atOnce.params, later().params]).toEqual([expected, expected]);
});
