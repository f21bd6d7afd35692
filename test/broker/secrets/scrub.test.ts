import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { scrubberFor } from '../../../src/broker/secrets/scrub.ts';

const secret = fc.string({ minLength: 8, maxLength: 40 }).filter((text) => !'[secret KEY]'.includes(text));

it('scrubbing removes a value from texts, keys and nested data', () => {
  fc.assert(
    fc.property(secret, fc.jsonValue(), (value, other) => {
      const scrub = scrubberFor(new Map([['KEY', value]]));
      const { a, b } = scrub({
        a: [`<${value}>`, other],
        b: { [`k${value}`]: [Buffer.from(value).toString('hex')] },
      });
      expect(a[0]).toBe('<[secret KEY]>');
      expect(b).toEqual({ 'k[secret KEY]': ['[secret KEY]'] });
    }),
  );
});

it('scrubbing leaves everything else unchanged', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (data) => {
      expect(scrubberFor(new Map([['KEY', 'invented-and-nowhere-else']]))(data)).toEqual(data);
      expect(scrubberFor(new Map())(data)).toBe(data);
    }),
  );
});

it('scrubbing removes a number that equals the value', () => {
  const scrub = scrubberFor(new Map([['PIN', '1234567890']]));
  expect(scrub({ pin: 1_234_567_890, other: 42 })).toEqual({ pin: '[secret PIN]', other: 42 });
});

it('scrubbing keeps keys that are special in JavaScript as keys', () => {
  const scrub = scrubberFor(new Map([['KEY', 'invented-value']]));
  const data = JSON.parse('{"__proto__": {"a": "invented-value"}, "constructor": 1}') as object;
  expect(JSON.stringify(scrub(data))).toBe('{"__proto__":{"a":"[secret KEY]"},"constructor":1}');
});
