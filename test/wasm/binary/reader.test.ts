import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Reader } from '../../../guest/wasm/binary/reader.ts';
import { Writer } from '../../../guest/wasm/install/writer.ts';
import { refusal } from './support.ts';

const reader = (...bytes: number[]): Reader => new Reader(Uint8Array.from(bytes));

describe('the reader of numbers', () => {
  test('reads every u32 as it was written', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 0xffff_ffff }), (value) => {
        const writer = new Writer();
        writer.u32(value);
        const read = new Reader(writer.view);
        expect(read.u32()).toBe(value);
        expect(read.done).toBe(true);
      }),
    );
  });

  test('reads every non-negative signed number as it was written', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 0x7fff_ffff }), (value) => {
        const writer = new Writer();
        writer.signed(value);
        expect(new Reader(writer.view).signed(32)).toBe(value);
      }),
    );
  });

  test('accepts padding up to five bytes, as linkers write it, and refuses a sixth byte', () => {
    expect(reader(0x81, 0x80, 0x80, 0x80, 0x00).u32()).toBe(1);
    expect(refusal(() => reader(0x81, 0x80, 0x80, 0x80, 0x80, 0x00).u32()).offset).toBe(4);
  });

  test('refuses bits beyond the width', () => {
    expect(reader(0xff, 0xff, 0xff, 0xff, 0x0f).u32()).toBe(0xffff_ffff);
    expect(refusal(() => reader(0xff, 0xff, 0xff, 0xff, 0x1f).u32()).message).toContain('32 bits');
    expect(reader(0xff, 0xff, 0xff, 0xff, 0x7f).signed(32)).toBe(-1);
    expect(reader(0x80, 0x80, 0x80, 0x80, 0x78).signed(32)).toBe(-(2 ** 31));
    expect(refusal(() => reader(0x80, 0x80, 0x80, 0x80, 0x70).signed(32)).message).toContain('too long');
    expect(reader(0x80, 0x80, 0x80, 0x80, 0x70).signed(33)).toBe(-(2 ** 32));
    expect(() => reader(0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f).skipS64()).not.toThrow();
    expect(refusal(() => reader(...Array.from({ length: 9 }, () => 0x80), 0x7e).skipS64()).offset).toBe(9);
  });

  test('reads small negative numbers', () => {
    expect(reader(0x7f).signed(32)).toBe(-1);
    expect(reader(0x40).signed(33)).toBe(-64);
    expect(reader(0x80, 0x7f).signed(33)).toBe(-128);
  });
});

describe('a bounded reader', () => {
  test('reports a premature end with its offset', () => {
    expect(refusal(() => reader(0x80).u32()).offset).toBe(1);
    expect(refusal(() => reader(3, 0x61).name(10)).offset).toBe(1);
  });

  test('refuses an impossible count before anything is allocated', () => {
    expect(refusal(() => reader(0xff, 0xff, 0xff, 0xff, 0x0f).count(2 ** 32, 'types')).message).toContain(
      'fewer bytes',
    );
    expect(refusal(() => reader(5, 0, 0, 0, 0, 0).count(4, 'types')).message).toContain('maximum of 4');
  });

  test('accepts names that are UTF-8 and not too long, and keeps a byte order mark', () => {
    expect(reader(2, 0xc3, 0xa4).name(10)).toBe('ä');
    expect(refusal(() => reader(2, 0xc3, 0x28).name(10)).offset).toBe(1);
    expect(refusal(() => reader(3, 0xed, 0xa0, 0x80).name(10)).message).toContain('UTF-8');
    expect(refusal(() => reader(3, 0x61, 0x61, 0x61).name(2)).message).toContain('longer');
    expect(reader(3, 0xef, 0xbb, 0xbf).name(10)).toBe('\uFEFF');
  });

  test('ends a window at its declared length', () => {
    const outer = reader(1, 2, 3, 4);
    const inner = outer.window(2);
    expect([inner.byte(), inner.byte(), inner.done, outer.byte()]).toEqual([1, 2, true, 3]);
    expect(refusal(() => inner.byte()).offset).toBe(2);
    expect(refusal(() => outer.window(2)).offset).toBe(3);
  });
});
