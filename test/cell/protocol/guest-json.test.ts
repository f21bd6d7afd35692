import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAX_JSON_DEPTH, parseGuestJson } from '../../../src/cell/protocol/guest-json.ts';

const parse = (text: string): unknown => parseGuestJson(Buffer.from(text)).value;
const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

describe('parseGuestJson', () => {
  test('agrees with JSON.parse for any JSON', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6, stringUnit: 'grapheme' }), (text) => {
        expect(parse(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  test('agrees with JSON.parse for any whitespace', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.constantFrom('', ' ', '\t', 2), (value, space) => {
        const text = JSON.stringify(value, null, space);
        expect(parse(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  test('rejects what JSON.parse rejects, for texts that are nearly JSON', () => {
    const piece = fc.constantFrom('{', '}', '[', ']', '"', ':', ',', '1', '-', 'e', 'null', 'a', '\\', ' ');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = pieces.join('');
        const plain = attempt(() => JSON.parse(text) as unknown);
        const ours = attempt(() => parse(text));
        // Only duplicate keys are rejected by us, but not by JSON.parse.
        if (ours.failed && !plain.failed) expect(ours.message).toContain('occurs twice');
        else expect(ours.failed).toBe(plain.failed);
      }),
      { numRuns: 2000 },
    );
  });

  test('rejects any object with a duplicate key', () => {
    fc.assert(
      fc.property(fc.string(), fc.jsonValue(), (key, value) => {
        const [name, content] = [JSON.stringify(key), JSON.stringify(value)];
        expect(() => parse(`{${name}:${content}, ${name} : 1}`)).toThrow(/occurs twice/);
        expect(() => parse(`[{"o":{${name}:1,"${key.length}_":2,${name}:${content}}}]`)).toThrow(
          /occurs twice/,
        );
      }),
    );
  });

  test.each([
    ['an escape', '{"a":1,"\\u0061":2}'],
    ['an escaped quote', '{"\\"":1,"\\u0022":2}'],
    ['a nested object', '{"a":{"b":1},"a":2}'],
    ['after a list', '{"a":[1,{"a":1}],"a":2}'],
  ])('finds a duplicate key behind %s', (_, text) => {
    expect(() => parse(text)).toThrow(/occurs twice/);
  });

  test('accepts the same key in other objects and as a value', () => {
    const text = '{"a":{"a":["a","a",{"a":"a"}]},"b":{"a":1}}';
    expect(parse(text)).toEqual(JSON.parse(text));
  });

  test(`${MAX_JSON_DEPTH} levels are accepted, one more is rejected, and a nesting bomb is rejected without recursion`, () => {
    expect(parse(nested(MAX_JSON_DEPTH))).toBeInstanceOf(Array);
    expect(() => parse(nested(MAX_JSON_DEPTH + 1))).toThrow('nested deeper than 128 levels');
    expect(() => parse(nested(500_000))).toThrow('nested deeper');
    expect(() => parse('{"a":'.repeat(500_000))).toThrow('nested deeper');
    expect(parse(`"${'['.repeat(1000)}"`)).toBe('['.repeat(1000));
  });

  test.each(['1e999', '-1e999', '[{"a":1e400}]'])(
    'rejects the number in %s, which would become infinite',
    (text) => {
      expect(() => parse(text)).toThrow(/out of range/);
    },
  );

  test.each(['1e-400', '-1e-400', '[0.5e-330]', `{"a":0.${'0'.repeat(330)}1}`])(
    'rejects the number in %s, which would become zero',
    (text) => {
      expect(() => parse(text)).toThrow(/out of range/);
    },
  );

  test.each(['0e-400', '0.0', '-0', '5e-324', '1.7976931348623157e308', '1e20', '100000000000000000000'])(
    'reads %s without a warning',
    (text) => {
      expect(parseGuestJson(Buffer.from(text))).toEqual({ value: Number(text), warnings: [] });
    },
  );

  test.each(['NaN', 'Infinity', '-Infinity', '[nan]'])('rejects %s', (text) => {
    expect(() => parse(text)).toThrow();
  });

  test('warns about an integer that loses digits, with its key', () => {
    const { value, warnings } = parseGuestJson(
      Buffer.from('{"big":9007199254740993,"fine":9007199254740991}'),
    );
    expect(value).toEqual({ big: 9007199254740992, fine: 9007199254740991 });
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain('"big"');
  });

  test('limits these warnings to five', () => {
    const text = `[${Array(1000).fill('9007199254740993').join(',')}]`;
    expect(parseGuestJson(Buffer.from(text)).warnings).toHaveLength(5);
  });

  test('treats __proto__ as an ordinary key', () => {
    const value = parse('{"__proto__":{"polluted":true},"constructor":1}') as Record<string, unknown>;
    expect(Object.hasOwn(value, '__proto__')).toBe(true);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  test('rejects invalid UTF-8', () => {
    expect(() => parseGuestJson(Uint8Array.of(0x22, 0xc3, 0x28, 0x22))).toThrow();
    expect(() => parseGuestJson(Uint8Array.of(0x22, 0xed, 0xa0, 0x80, 0x22))).toThrow();
  });
});

function attempt(work: () => unknown): { failed: boolean; message: string } {
  try {
    work();
    return { failed: false, message: '' };
  } catch (error) {
    return { failed: true, message: String(error) };
  }
}
