import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Finder } from '../../../src/broker/secrets/finder.ts';
import { everySpelling, textPattern } from '../../../src/broker/secrets/patterns.ts';

const covering = (value: string): Finder =>
  new Finder(
    everySpelling(value).map((pattern) => ({ pattern, replace: (found) => '*'.repeat(found.length) })),
  );

/** A finder for several values. */
const coveringAll = (values: string[]): Finder =>
  new Finder(
    values.flatMap((value) =>
      everySpelling(value).map((pattern) => ({
        pattern,
        replace: (found: string) => '*'.repeat(found.length),
      })),
    ),
  );

const secret = fc
  .string({ minLength: 8, maxLength: 40, unit: 'grapheme-ascii' })
  .filter((text) => !text.includes('*'));
const surroundings = fc.tuple(fc.string({ maxLength: 30 }), fc.string({ maxLength: 30 }));

/** Splits into pieces of the given lengths and the rest. */
function cut(bytes: Buffer, lengths: number[]): Buffer[] {
  const pieces: Buffer[] = [];
  let at = 0;
  for (const length of lengths) {
    pieces.push(bytes.subarray(at, at + length));
    at += length;
  }
  return [...pieces, bytes.subarray(at)];
}

function through(finder: Finder, pieces: Buffer[]): string {
  const filter = finder.filter();
  return Buffer.concat([...pieces.map((piece) => filter.push(piece)), filter.end()]).toString('latin1');
}

/** Percent-encodes the characters whose flag is set. */
function partlyEncoded(text: string, flags: boolean[]): string {
  const bytes = [...Buffer.from(text)];
  return bytes
    .map((byte, at) => {
      const digits = byte.toString(16).padStart(2, '0');
      return flags[at % flags.length] ? `%${digits}` : String.fromCharCode(byte);
    })
    .join('');
}

describe('a secret value', () => {
  it.each<[string, (value: string) => string]>([
    ['as it is', (value) => value],
    ['URL-encoded', encodeURIComponent],
    [
      'URL-encoded in lower case',
      (value) => encodeURIComponent(value).replaceAll(/%../g, (x) => x.toLowerCase()),
    ],
    ['as a form field', (value) => new URLSearchParams({ value }).toString().slice('value='.length)],
    ['in JSON', (value) => JSON.stringify(value).slice(1, -1)],
    ['in hexadecimal', (value) => Buffer.from(value).toString('hex')],
    ['in base64', (value) => Buffer.from(value).toString('base64')],
    ['in base64url', (value) => Buffer.from(value).toString('base64url')],
  ])('is found %s', (_, spell) => {
    fc.assert(
      fc.property(secret, surroundings, (value, [before, after]) => {
        const spelled = spell(value);
        const covered = covering(value).replaceInText(before + spelled + after);
        expect(covered).toContain('*'.repeat(5));
        expect(covered).not.toContain(spelled);
      }),
    );
  });

  it('is found inside the base64 of a longer text, wherever it begins', () => {
    fc.assert(
      fc.property(secret, surroundings, fc.boolean(), (value, [before, after], isUrlSafe) => {
        const encoded = Buffer.from(before + value + after).toString(isUrlSafe ? 'base64url' : 'base64');
        const covered = covering(value).replaceIn(encoded);
        expect(covered).toHaveLength(encoded.length);
        expect(Buffer.from(covered.replaceAll('*', 'A'), 'base64').toString()).not.toContain(value);
      }),
    );
  });

  it('is found when any part of it is percent-encoded', () => {
    const flags = fc.array(fc.boolean(), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(secret, flags, (value, chosen) => {
        expect(covering(value).replaceIn(partlyEncoded(value, chosen))).toMatch(/^\*+$/);
      }),
    );
  });

  it('is found beyond ASCII', () => {
    for (const value of ['pässwörter', '秘密の鍵です鍵', '🔑🔑🔑🔑']) {
      for (const spelled of [value, encodeURIComponent(value), JSON.stringify(value)])
        expect(covering(value).replaceInText(`<${spelled}>`)).toMatch(/^<"?\*+"?>$/);
    }
  });
});

describe('replacing in a stream', () => {
  const lengths = fc.array(fc.nat(20), { maxLength: 12 });

  it('gives the same result as in one piece, wherever it is split', () => {
    fc.assert(
      fc.property(secret, fc.array(fc.string(), { maxLength: 4 }), lengths, (value, texts, cuts) => {
        const whole = Buffer.from(texts.join(value) + value.slice(0, 5));
        const finder = covering(value);
        expect(through(finder, cut(whole, cuts))).toBe(finder.replaceIn(whole.toString('latin1')));
      }),
    );
  });

  it('inserts a longer or shorter text', () => {
    fc.assert(
      fc.property(secret, fc.string(), lengths, (value, replacement, cuts) => {
        fc.pre(!replacement.includes(value) && !/[^\0-\u007F]/.test(replacement));
        const finder = new Finder([{ pattern: textPattern(value), replace: () => replacement }]);
        const whole = Buffer.from(`<<${value}>>${value}`);
        expect(through(finder, cut(whole, cuts))).toBe(finder.replaceIn(whole.toString('latin1')));
      }),
    );
  });

  it('releases bytes by their count, whatever they are', () => {
    const guess = fc.tuple(fc.nat(16), fc.string({ maxLength: 20, unit: 'grapheme-ascii' }));
    fc.assert(
      fc.property(
        secret,
        fc.array(guess, { minLength: 1, maxLength: 20 }),
        lengths,
        (value, guesses, cuts) => {
          // Prefixes of the value of any length, and the same number of other bytes.
          const near = Buffer.from(guesses.map(([length, after]) => value.slice(0, length) + after).join(''));
          const far = Buffer.alloc(near.length, '\u0001');
          const released = (bytes: Buffer): number[] => {
            const filter = covering(value).filter();
            return [...cut(bytes, cuts).map((piece) => filter.push(piece).length), filter.end().length];
          };
          expect(released(near)).toEqual(released(far));
        },
      ),
    );
  });

  it('holds back what the longest encoding may still need, and releases it as more arrives', () => {
    const value = 'sk-0123456789';
    const most = value.length * '\\u0000'.length - 1;
    const filter = covering(value).filter();
    expect(filter.push(Buffer.alloc(most, 'x'))).toHaveLength(0);
    expect(filter.push(Buffer.from('yz'))).toHaveLength(2);
    expect(filter.end()).toHaveLength(most);
  });

  it('does not treat bytes as text', () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, at) => at));
    expect(through(covering('invented-value'), [bytes])).toBe(bytes.toString('latin1'));
  });
});

it('text without the value stays unchanged, even if it is not valid text', () => {
  expect(covering('invented-value').replaceInText('a \ud800 b')).toBe('a \ud800 b');
});

describe('two values that overlap', () => {
  it.each([
    ['one begins with the other', 'abcdefgh12', 'abcdefgh12-the-rest', 'abcdefgh12-the-rest'],
    ['one ends with the other', 'first-abcdefgh', 'abcdefgh', 'first-abcdefgh'],
    ['one ends as the other begins', 'first-abcdefgh', 'abcdefgh-second', 'first-abcdefgh-second'],
    ['one repeats itself', 'abababab', 'abababab', 'ababababab'],
  ])('are covered completely if %s', (...[, one, other, text]) => {
    for (const values of [
      [one, other],
      [other, one],
    ])
      expect(coveringAll(values).replaceIn(`<${text}>`)).toBe(`<${'*'.repeat(text.length)}>`);
  });

  it('are covered completely in a stream too, wherever it is split', () => {
    const part = fc.string({ minLength: 4, maxLength: 12, unit: fc.constantFrom('a', 'b', 'c') });
    const lengths = fc.array(fc.nat(30), { maxLength: 12 });
    fc.assert(
      fc.property(fc.tuple(part, part, part), lengths, ([start, middle, end], cuts) => {
        const finder = coveringAll([start + middle, middle + end]);
        const bytes = Buffer.from(`<${'x'.repeat(200)}${start}${middle}${end}${'y'.repeat(200)}>`);
        const covered = finder.replaceIn(bytes.toString('latin1'));
        expect(through(finder, cut(bytes, cuts))).toBe(covered);
        expect(covered).toContain(`x${'*'.repeat((start + middle + end).length)}y`);
      }),
    );
  });
});

it('the longest value that a secret may have is covered in every encoding', () => {
  const value = Array.from({ length: 16 * 1024 }, (_, at) =>
    ((at * at + 7 * at + 11) % 61).toString(36).at(-1),
  ).join('');
  for (const spelled of [
    value,
    `%${value.charCodeAt(0).toString(16)}${value.slice(1)}`,
    Buffer.from(value).toString('base64'),
  ])
    expect(covering(value).replaceIn(`<${spelled}>`)).toMatch(/^<\*+[^*]{0,4}>$/);
});

it('a text made only of escapes is searched, as JSON writes other alphabets', () => {
  const text = String.raw`\u4e2d`.repeat(200_000);
  expect(covering('sk-0123456789').replaceIn(text)).toBe(text);
  const spelled = Array.from('sk-0123456789', (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`).join(
    '',
  );
  expect(covering('sk-0123456789').replaceIn(text + spelled)).toBe(text + '*'.repeat(spelled.length));
});
