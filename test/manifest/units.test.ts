import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SkillError } from '../../src/errors.ts';
import {
  formatDuration,
  formatSize,
  MAX_DURATION_MS,
  parseDuration,
  parseSize,
} from '../../src/manifest/units.ts';

describe('parsing a duration', () => {
  it.each([
    ['30s', 30_000],
    ['500ms', 500],
    ['2m', 120_000],
    ['1h', 3_600_000],
    ['1.5s', 1500],
    ['10', 10_000],
    [30, 30_000],
    [0.25, 250],
    [' 5 s ', 5000],
  ])('reads %j', (text, milliseconds) => {
    expect(parseDuration(text)).toBe(milliseconds);
  });

  it.each([
    '0s',
    '-1s',
    0,
    -3,
    Number.NaN,
    Infinity,
    '',
    's',
    '1d',
    '1S',
    '1e3',
    '30s30',
    '999999h',
    '0x10',
    '1 000',
  ])('refuses %j with the code usage', (text) => {
    expect(() => parseDuration(text)).toThrow(expect.objectContaining({ code: 'usage' }));
  });

  it('survives a round trip', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: MAX_DURATION_MS }), (milliseconds) => {
        expect(parseDuration(formatDuration(milliseconds))).toBe(milliseconds);
      }),
    );
  });
});

describe('parsing a size', () => {
  it.each([
    ['64MiB', 64 * 1024 * 1024],
    ['1MB', 1_000_000],
    ['512KiB', 524_288],
    ['1.5 GiB', 1_610_612_736],
    ['7B', 7],
    ['100', 100],
    [4096, 4096],
    ['0.2B', 1],
  ])('reads %j', (text, bytes) => {
    expect(parseSize(text)).toBe(bytes);
  });

  it.each(['0', '0MiB', '-1MB', '64M', '64mib', '9999999TiB', Number.NaN, Infinity, 'MiB', ''])(
    'refuses %j',
    (text) => {
      expect(() => parseSize(text)).toThrow(SkillError);
    },
  );

  it('names the value and the correct form in the message', () => {
    expect(() => parseSize('64M')).toThrow('"64M" is not a size; write "64MiB"');
  });

  it('survives a round trip', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), (bytes) => {
        expect(parseSize(formatSize(bytes))).toBe(bytes);
      }),
    );
  });
});

it('a unit never parses to zero, a fraction or an unsafe number, and throws only usage errors', () => {
  const value = fc.oneof(fc.string(), fc.double(), fc.stringMatching(/^[-+]?\d+(\.\d+)? ?[A-Za-z]{0,3}$/));
  fc.assert(
    fc.property(value, fc.constantFrom(parseDuration, parseSize), (text, parse) => {
      try {
        const result = parse(text);
        expect(result).toBeGreaterThan(0);
        expect(Number.isSafeInteger(result)).toBe(true);
      } catch (error) {
        expect(error).toMatchObject({ name: 'SkillError', code: 'usage' });
      }
    }),
  );
});
