import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  markedLines,
  printable,
  printableBlock,
  printableJson,
  printableLine,
} from '../../src/manifest/printable.ts';
import { escapeUnprintable } from '../../src/web/shown.ts';

/** Independent of the implementation: uses Unicode categories instead of a list of code points. */
const STEERS = /(?![\n\t])[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\p{Cs}]|[\u200b-\u200d\u2060-\u2064\ufeff]/u;
const anyText = fc
  .array(
    fc.oneof(
      fc.integer({ min: 0, max: 0x10ffff }),
      fc.integer({ min: 0, max: 0x9f }),
      fc.integer({ min: 0x2000, max: 0x2070 }),
    ),
  )
  .map((codes) => String.fromCodePoint(...codes));

test('a printable text contains no control or invisible characters, whatever the input', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      for (const shown of [printable(text), printableLine(text), printableBlock(text), markedLines(text)])
        expect(shown).not.toMatch(STEERS);
      expect(printableLine(text)).not.toMatch(/[\n\t]/);
    }),
    { numRuns: 2_000 },
  );
});

test('only the first line of a block starts at the margin', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('fix: x', 'Receipt: 1', '\r', '\n', '\u2028', '\u0085')),
      (parts) => {
        const [, ...rest] = printableBlock(parts.join('')).split('\n');
        for (const line of rest) expect(line).toMatch(/^ {2}\| /);
        for (const line of markedLines(parts.join('')).split('\n')) expect(line).toMatch(/^ {2}\| /);
      },
    ),
  );
});

test('printable JSON keeps its value and contains no control characters', () => {
  fc.assert(
    fc.property(fc.oneof(anyText, fc.dictionary(anyText, anyText), fc.jsonValue()), (value) => {
      const text = printableJson(value);
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      expect(text).not.toMatch(STEERS);
    }),
    { numRuns: 2_000 },
  );
});

test('plain text in any script stays unchanged', () => {
  for (const plain of ['Größe, naïve, 日本語, עברית', 'a\n\tb', '👍🏽']) expect(printable(plain)).toBe(plain);
});

test('the console shows every character as a terminal does', () => {
  for (let code = 0; code <= 0x10ffff; code++) {
    const text = String.fromCodePoint(code);
    if (escapeUnprintable(text) !== printable(text))
      expect(escapeUnprintable(text), code.toString(16)).toBe(printable(text));
  }
});
