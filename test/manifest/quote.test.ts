import { execFileSync } from 'node:child_process';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { shellWord } from '../../src/manifest/quote.ts';

it('quoting leaves plain paths unchanged', () => {
  expect(shellWord('/home/me/skills/text_tools/word-stats.v2')).toBe(
    '/home/me/skills/text_tools/word-stats.v2',
  );
});

it('a quoted path is one word for a shell, whatever it contains', () => {
  const odd = fc.string({ unit: fc.constantFrom(...Array.from('\'"$`\\;&|<>()*?~# \n!{}ab/')) });
  fc.assert(
    fc.property(odd, (path) => {
      const printed = execFileSync('/bin/sh', ['-c', `printf '%s\\0' ${shellWord(path)}`], {
        encoding: 'utf8',
      });
      expect(printed).toBe(`${path}\0`);
    }),
    { numRuns: 60 },
  );
});
