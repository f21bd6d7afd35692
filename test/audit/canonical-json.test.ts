import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson, digestJson } from '../../src/audit/canonical-json.ts';

function reversedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversedKeys);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, item]) => [key, reversedKeys(item)]),
  );
}

describe('canonicalJson', () => {
  it('sorts keys at every depth and keeps the order of arrays', () => {
    expect(canonicalJson({ b: [2, 1, { z: 1, a: null }], a: 'x' })).toBe(
      '{"a":"x","b":[2,1,{"a":null,"z":1}]}',
    );
  });

  it('leaves out undefined members and writes null for values that JSON does not support', () => {
    expect(canonicalJson({ a: undefined, b: Number.NaN, c: [undefined] })).toBe('{"b":null,"c":[null]}');
  });

  it('returns the same text for the same value in any key order, and the text parses back to it', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = canonicalJson(value);
        expect(text).toBe(canonicalJson(reversedKeys(value)));
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it('leads to different digests for different values', () => {
    expect(digestJson({ a: 1 })).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(digestJson({ a: 1 })).not.toBe(digestJson({ a: '1' }));
  });
});
