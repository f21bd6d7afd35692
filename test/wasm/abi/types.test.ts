import { describe, expect, it } from 'vitest';
import {
  enumType,
  flagsType,
  funcType,
  listType,
  optionType,
  primitiveType,
  recordType,
  resultType,
  tupleType,
  variantType,
  type AbiType,
} from '../../../guest/wasm/abi/types.ts';

const [u8, u16, u32, u64, f32, f64, text] = (
  ['u8', 'u16', 'u32', 'u64', 'f32', 'f64', 'string'] as const
).map(primitiveType) as [AbiType, AbiType, AbiType, AbiType, AbiType, AbiType, AbiType];
const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `n${index}`);
const variantOf = (...types: (AbiType | undefined)[]): AbiType =>
  variantType(types.map((type, index) => ({ name: `c${index}`, type })));

describe('the memory layout of types', () => {
  it.each<[string, AbiType, number, number]>([
    ['a string', text, 8, 4],
    ['a list', listType(u64), 8, 4],
    ['a record with padding inside and at its end', tupleType([u8, u64, u16]), 24, 8],
    ['a record of bytes', tupleType([u8, u8, u8]), 3, 1],
    ['an option of a wide payload', optionType(u64), 16, 8],
    ['an option of a byte', optionType(u8), 2, 1],
    ['a result of nothing', resultType(undefined, undefined), 1, 1],
    ['a result of strings', resultType(text, text), 12, 4],
    ['256 cases', enumType(names(256)), 1, 1],
    ['257 cases', enumType(names(257)), 2, 2],
    ['65537 cases', enumType(names(65_537)), 4, 4],
    ['8 flags', flagsType(names(8)), 1, 1],
    ['9 flags', flagsType(names(9)), 2, 2],
    ['17 flags', flagsType(names(17)), 4, 4],
    ['a payload after a two-byte discriminant', variantOf(...names(256).map(() => undefined), u8), 4, 2],
  ])('is correct for %s', (_, type, ...layout) => {
    expect([type.size, type.align]).toEqual(layout);
  });
});

describe('the core types of values', () => {
  it.each<[string, AbiType, string[]]>([
    ['i32 and f32 share an i32', variantOf(u32, f32), ['i32', 'i32']],
    ['f32 and f32 stay an f32', variantOf(f32, f32), ['i32', 'f32']],
    ['i32 and i64 share an i64', variantOf(u32, u64), ['i32', 'i64']],
    ['f32 and i64 share an i64', variantOf(f32, u64), ['i32', 'i64']],
    ['f32 and f64 share an i64', variantOf(f32, f64), ['i32', 'i64']],
    ['i64 and f64 share an i64', variantOf(u64, f64), ['i32', 'i64']],
    ['i32 and f64 share an i64', variantOf(u32, f64), ['i32', 'i64']],
    ['cases of different length', variantOf(f64, text, undefined), ['i32', 'i64', 'i32']],
    ['variants within variants', variantOf(variantOf(f32, u8), f64), ['i32', 'i64', 'i32']],
  ])('are joined: %s', (_, type, flat) => {
    expect(type.flat).toEqual(flat);
  });

  it('are passed in memory if there are more than 16', () => {
    const params = (count: number): { name: string; type: AbiType }[] =>
      names(count).map((name) => ({ name, type: u32 }));
    expect(funcType(params(16)).params?.flat).toHaveLength(16);
    expect(funcType(params(17)).params?.flat).toBeUndefined();
    expect(optionType(recordType(params(15))).flat).toHaveLength(16);
    expect(optionType(recordType(params(16))).flat).toBeUndefined();
  });
});

describe('expensive types', () => {
  it('do not grow without bound by doubling', () => {
    let type: AbiType = u64;
    const double = (): void => {
      for (let step = 0; step < 40; step += 1) type = tupleType([type, type]);
    };
    expect(double).toThrow(/larger than \d+ bytes/);
  });

  it('do not nest without bound', () => {
    let type: AbiType = u8;
    const nest = (): void => {
      for (let step = 0; step < 1000; step += 1) type = listType(type);
    };
    expect(nest).toThrow(/nested deeper/);
  });

  it('must have at least one part, and at most 32 flags', () => {
    expect(() => recordType([])).toThrow(TypeError);
    expect(() => tupleType([])).toThrow(TypeError);
    expect(() => variantType([])).toThrow(TypeError);
    expect(() => flagsType([])).toThrow(TypeError);
    expect(() => flagsType(names(33))).toThrow(TypeError);
  });
});
