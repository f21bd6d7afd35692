import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { digestJson } from '../../src/audit/canonical-json.ts';
import { digestCall, digestMeanwhile } from '../../src/audit/digests.ts';
import type { Grant } from '../../src/policy/grant.ts';

const LIMITS = { timeout: 1, cpu: 1, memory: 1, output: 1, processes: 0, scratch: 1 };

function grantWith(env: Record<string, string>): Grant {
  return { filesystem: [], network: [], env, syscalls: 'default', limits: LIMITS, withheld: [] };
}

test('the grant counts by the names of variables, and not by their values', () => {
  const digest = (env: Record<string, string>): string => digestCall({}, grantWith(env)).grant;
  expect(digest({ TOKEN: 'a' })).toBe(digest({ TOKEN: 'b' }));
  expect(digest({ TOKEN: 'a' })).not.toBe(digest({ OTHER: 'a' }));
});

test('parameters that are no JSON have a digest too', () => {
  const circular: Record<string, unknown> = {};
  circular['self'] = circular;
  expect(digestCall(circular, undefined).params).toMatch(/^sha256:[0-9a-f]{64}$/);
});

test('digests are of what the call began with, and there is no need to wait for them', async () => {
  const params = { words: ['one'] };
  const expected = digestJson({ words: ['one'] });
  const atOnce = digestMeanwhile(params, grantWith({}))();
  const later = digestMeanwhile(params, grantWith({}));
  await nextTurn();
  params.words.push('two');
  expect([atOnce.params, later().params]).toEqual([expected, expected]);
});
