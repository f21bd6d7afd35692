import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { unifiedDiff } from '../../src/record/unified-diff.ts';

/** A strict `patch`: every line of context and every removed line must match. */
function apply(before: string[], diff: string): string[] {
  const after: string[] = [];
  let at = 0;
  for (const line of diff.split('\n').slice(2, -1)) {
    const start = /^@@ -(\d+),(\d+) \+\d+,\d+ @@$/.exec(line);
    if (start) {
      const first = Number(start[1]) - (start[2] === '0' ? 0 : 1);
      after.push(...before.slice(at, first));
      at = first;
    } else if (line.startsWith('+')) after.push(line.slice(1));
    else {
      expect(before[at]).toBe(line.slice(1));
      if (line.startsWith(' ')) after.push(line.slice(1));
      at++;
    }
  }
  return [...after, ...before.slice(at)];
}

const lines = fc.array(fc.constantFrom('a', 'b', 'c', '', '+d', '- e'), { maxLength: 40 });
const textOf = (all: string[]): string => all.map((line) => `${line}\n`).join('');

test('applying the difference turns one text into the other', () => {
  fc.assert(
    fc.property(lines, lines, (before, after) => {
      const diff = unifiedDiff(textOf(before), textOf(after), 'f');
      if (textOf(before) === textOf(after)) expect(diff).toBe('');
      else expect(apply(before, diff)).toEqual(after);
    }),
  );
});

test('the difference has the usual unified format', () => {
  const before = textOf(['1', '2', '3', '4', '5', '6', '7', '8', '9']);
  expect(unifiedDiff(before, before.replace('5\n', '5a\n5b\n'), 'manifest.yaml')).toBe(
    '--- a/manifest.yaml\n+++ b/manifest.yaml\n@@ -2,7 +2,8 @@\n 2\n 3\n 4\n-5\n+5a\n+5b\n 6\n 7\n 8\n',
  );
});

test('a new text is added completely', () => {
  expect(unifiedDiff('', 'a\nb\n', 'f')).toBe('--- a/f\n+++ b/f\n@@ -0,0 +1,2 @@\n+a\n+b\n');
});

test('texts that are too large to compare are shown as one change', () => {
  const many = (mark: string): string[] => Array.from({ length: 3000 }, (_, at) => `${mark} ${at}`);
  const [before, after] = [
    ['same', ...many('a')],
    ['same', ...many('b')],
  ];
  expect(apply(before, unifiedDiff(textOf(before), textOf(after), 'f'))).toEqual(after);
});
