/**
 * Files of test cases, which are as untrusted as the skill, and the comparison of answers with them.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { formatCases, isSame, misfit, readCases, type Answer } from '../../src/inside.ts';

const folder = mkdtempSync(join(tmpdir(), 'skillcell-cases-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function written(text: string): string {
  const file = join(folder, 'cases.json');
  writeFileSync(file, text);
  return file;
}

const result = (value: unknown): Answer => ({ kind: 'result', value });
const failure = (message: string): Answer => ({ kind: 'error', code: 'skill_error', message });

describe('a file of cases', () => {
  test('is optional', () => {
    expect(readCases(join(folder, 'none.json'))).toBeUndefined();
    expect(readCases(folder)).toBeUndefined();
  });

  test('is read unchanged', () => {
    const cases = [
      { name: 'one', params: { a: 1 }, result: { b: [null] }, workspace: 'sample', env: { KEY: 'x' } },
      { params: [], error: 'skill_error' as const, message: 'no', ignore: ['a.b'], unordered: ['c'] },
    ];
    expect(readCases(written(formatCases(cases)))).toEqual(cases);
  });

  test.each([
    ['no JSON', '[{'],
    ['no list', '{"params": {}}'],
    ['an unknown key', '[{"params": {}, "expect": 1}]'],
    ['a code that is none', '[{"params": {}, "error": "broken"}]'],
    ['a result and an error', '[{"params": {}, "result": 1, "error": "usage"}]'],
    ['a message without an error', '[{"params": {}, "message": "x"}]'],
    ['a workspace outside of the bundle', '[{"params": {}, "workspace": "../other"}]'],
    ['an absolute workspace', '[{"params": {}, "workspace": "/etc"}]'],
    ['too many', JSON.stringify(Array.from({ length: 501 }, () => ({ params: {} })))],
    ['too large', `[${' '.repeat(4 * 1024 * 1024)}]`],
  ])('is refused for %s', (_what, text) => {
    expect(() => readCases(written(text))).toThrow(
      expect.objectContaining({ code: 'manifest_invalid' }) as Error,
    );
  });
});

describe('an expected answer', () => {
  test.each([
    ['the same in another order of keys', result({ a: 1, b: 2 }), { params: 0, result: { b: 2, a: 1 } }],
    [
      'the same without what may differ',
      result({ a: { t: 5 } }),
      { params: 0, result: { a: { t: 6 } }, ignore: ['a.t'] },
    ],
    [
      'the same in another order',
      result({ a: [1, { b: 2 }] }),
      { params: 0, result: { a: [{ b: 2 }, 1] }, unordered: ['a'] },
    ],
    ['any result', result(7), { params: 0 }],
    [
      'the error with its words',
      failure('it is bad'),
      { params: 0, error: 'skill_error' as const, message: 'bad' },
    ],
  ])('matches: %s', (_what, answer, expected) => {
    expect(misfit(answer, expected)).toBeUndefined();
  });

  test.each([
    ['another value', result({ a: 1 }), { params: 0, result: { a: 2 } }],
    ['a key more', result({ a: 1, b: 1 }), { params: 0, result: { a: 1 } }],
    [
      'an ignored key that is missing',
      result({ a: {} }),
      { params: 0, result: { a: { t: 6 } }, ignore: ['a.t'] },
    ],
    ['an error', failure('x'), { params: 0 }],
    ['another error', failure('x'), { params: 0, error: 'capability_denied' as const }],
    ['other words', failure('x'), { params: 0, error: 'skill_error' as const, message: 'y' }],
    ['a result instead of an error', result(1), { params: 0, error: 'skill_error' as const }],
  ])('does not match: %s', (_what, answer, expected) => {
    expect(misfit(answer, expected)).toBeTypeOf('string');
  });

  test('matches itself and nothing else', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        expect(isSame(result(a), result(structuredClone(a)), {})).toBe(true);
        const isEqual =
          JSON.stringify(JSON.parse(JSON.stringify([a]))) === JSON.stringify(JSON.parse(JSON.stringify([b])));
        if (isEqual) expect(isSame(result(a), result(b), {})).toBe(true);
        expect(isSame(result([a]), result([b, b]), {})).toBe(false);
        expect(isSame(result(a), failure('x'), {})).toBe(false);
      }),
    );
  });
});
