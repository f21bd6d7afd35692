import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { Needle } from '../../../src/broker/secrets/needle.ts';

const letters = fc.string({ unit: fc.constantFrom('a', 'b', '\u00ff'), maxLength: 30 });

it('the search finds what an ordinary search finds', () => {
  fc.assert(
    fc.property(
      letters.filter((text) => text !== ''),
      letters,
      (sought, text) => {
        // False positives have a chance of one in four billion.
        expect(new Needle(sought).isIn(text)).toBe(text.includes(sought));
      },
    ),
    { numRuns: 2000 },
  );
});

it('the search finds nothing in a shorter text, and no empty text', () => {
  expect(new Needle('abc').isIn('ab')).toBe(false);
  expect(new Needle('').isIn('ab')).toBe(false);
});
