import { describe, expect, it } from 'vitest';
import type { AbiContext } from '../../../guest/wasm/abi/context.ts';
import { liftParams, liftResult } from '../../../guest/wasm/abi/lift.ts';
import { lowerParams, lowerResult } from '../../../guest/wasm/abi/lower.ts';
import {
  enumType,
  flagsType,
  funcType,
  listType,
  optionType,
  primitiveType,
  recordType,
  tupleType,
  type AbiType,
} from '../../../guest/wasm/abi/types.ts';
import { GuestEnd, type HostValue, type Primitive } from '../../../guest/wasm/contract.ts';
import { basicContext, compile, contextOf } from './support.ts';

const text = primitiveType('string');

function endOf(act: () => unknown): { kind: string; detail: string } {
  try {
    act();
  } catch (error) {
    if (error instanceof GuestEnd) return { kind: error.kind, detail: error.detail };
    throw error;
  }
  return { kind: 'none', detail: '' };
}

function liftOne(context: AbiContext, type: AbiType, ...core: unknown[]): HostValue {
  return liftParams(context, funcType([{ name: 'p', type }]).params, core)[0];
}

function write(context: AbiContext, address: number, bytes: number[]): void {
  context.bytes.set(bytes, address);
}

describe('a guest with false addresses or lengths', () => {
  const context = basicContext();

  it.each<[string, AbiType, unknown[]]>([
    ['a string beyond memory', text, [65_536, 1]],
    ['a string across the end of memory', text, [65_530, 7]],
    ['a string of 4 GB', text, [0, -1]],
    ['a string at the last address', text, [-1, 1]],
    ['address and length that overflow together', text, [-16, 32]],
    ['a list whose size overflows 32 bits', listType(primitiveType('u64')), [0, 0x2000_0001]],
    ['a list that is not aligned', listType(primitiveType('u32')), [2, 1]],
    ['bytes beyond memory', listType(primitiveType('u8')), [0, 65_537]],
    ['a bigint where a number belongs', primitiveType('u32'), [1n]],
    ['a number where a bigint belongs', primitiveType('u64'), [1]],
    ['a function where a number belongs', primitiveType('u32'), [() => 1]],
    ['no argument at all', primitiveType('u32'), []],
  ])('traps for %s', (_, type, core) => {
    expect(endOf(() => liftOne(context, type, ...core)).kind).toBe('trap');
  });

  it('can use the last byte of memory', () => {
    expect(liftOne(context, listType(primitiveType('u8')), 65_535, 1)).toEqual(new Uint8Array(1));
    expect(liftOne(context, text, 65_536, 0)).toBe('');
  });

  it('traps for a result address outside memory or misaligned', () => {
    for (const address of [65_536, -4, 65_529, 2, 1n, undefined]) {
      expect(endOf(() => lowerResult(context, text, { value: 'x', address })).kind).toBe('trap');
    }
    for (const returned of [65_532, 3, -8, undefined, 8n]) {
      expect(endOf(() => liftResult(context, text, returned)).kind).toBe('trap');
    }
  });
});

describe('invalid values', () => {
  const context = basicContext();

  it.each([
    [0xc0, 0x80],
    [0xff, 0x41],
    [0xed, 0xa0, 0x80],
    [0xf4, 0x90, 0x80, 0x80],
    [0xe2, 0x82],
  ])('in UTF-8 trap (%#)', (...bytes) => {
    write(context, 16, bytes);
    expect(endOf(() => liftOne(context, text, 16, bytes.length)).kind).toBe('trap');
  });

  it('in UTF-16, such as lone surrogates, trap', () => {
    const wide = basicContext({ encoding: 'utf16' });
    write(wide, 16, [0x00, 0xd8, 0x41, 0x00]);
    expect(endOf(() => liftOne(wide, text, 16, 2)).kind).toBe('trap');
    expect(endOf(() => liftOne(wide, text, 17, 1)).kind).toBe('trap');
    expect(endOf(() => liftOne(wide, text, 16, -1)).kind).toBe('trap');
  });

  it('do not include a byte order mark, which is kept as a character', () => {
    write(context, 16, [0xef, 0xbb, 0xbf, 0x41]);
    expect(liftOne(context, text, 16, 4)).toBe('\ufeffA');
  });

  it('of type char, such as surrogates and numbers beyond Unicode, trap', () => {
    for (const code of [0xd800, 0xdfff, 0x11_0000, -1]) {
      expect(endOf(() => liftOne(context, primitiveType('char'), code)).kind).toBe('trap');
    }
    expect(liftOne(context, primitiveType('char'), 0x10_ffff)).toBe('\u{10ffff}');
  });

  it('of a variant, with a discriminant beyond the last case, trap', () => {
    const type = enumType(['a', 'b', 'c']);
    expect(endOf(() => liftOne(context, type, 3)).kind).toBe('trap');
    expect(endOf(() => liftOne(context, type, -1)).kind).toBe('trap');
    write(context, 16, [3]);
    expect(endOf(() => liftOne(context, listType(type), 16, 1)).kind).toBe('trap');
    write(context, 16, [2]);
    expect(endOf(() => liftOne(context, listType(optionType(primitiveType('u8'))), 16, 1)).kind).toBe('trap');
  });

  it('do not include extra bits beyond a type, which are ignored', () => {
    expect(liftOne(context, primitiveType('u8'), 0x1ff)).toBe(255);
    expect(liftOne(context, primitiveType('s8'), 0x80)).toBe(-128);
    expect(liftOne(context, primitiveType('s16'), 0x1_8000)).toBe(-32_768);
    expect(liftOne(context, primitiveType('bool'), 2)).toBe(true);
    expect(liftOne(context, flagsType(['a', 'b']), 0xfe)).toEqual({ a: false, b: true });
  });

  it('do not include NaN, which always arrives as the canonical one', () => {
    write(context, 16, [0x01, 0x00, 0xa0, 0x7f]);
    const lifted = liftOne(context, listType(primitiveType('f32')), 16, 1) as number[];
    const [address] = lowerParams(
      context,
      funcType([{ name: 'p', type: listType(primitiveType('f32')) }]).params,
      [lifted],
    );
    expect(context.view.getUint32(Number(address), true)).toBe(0x7fc0_0000);
  });
});

describe('limits on values', () => {
  it('apply to the size of one value', () => {
    const context = basicContext({ valueBytes: 100 });
    expect(endOf(() => liftOne(context, text, 0, 101))).toEqual({ kind: 'limit', detail: 'output' });
    expect(endOf(() => liftOne(context, listType(primitiveType('u8')), 0, 101))).toEqual({
      kind: 'limit',
      detail: 'output',
    });
    expect(liftOne(context, text, 0, 100)).toHaveLength(100);
  });

  it('count a list by what it costs the host, not by its size in the guest', () => {
    const context = basicContext({ valueBytes: 60_000 });
    const type = listType(tupleType([primitiveType('bool')]));
    expect(endOf(() => liftOne(context, type, 0, 60_000))).toEqual({ kind: 'limit', detail: 'output' });
  });

  it('count the same bytes each time they are referenced', () => {
    const context = basicContext({ transferBytes: 1 << 20 });
    for (let index = 0; index < 64; index += 1) {
      context.view.setUint32(8 + index * 8, 0, true);
      context.view.setUint32(12 + index * 8, 65_536, true);
    }
    const type = listType(listType(primitiveType('u8')));
    expect(endOf(() => liftOne(context, type, 8, 64))).toEqual({ kind: 'limit', detail: 'transfer' });
  });
});

describe('an allocator that misbehaves', () => {
  const allocators: [string, string, number?][] = [
    ['an address beyond memory', '(i32.const 65536)'],
    ['the highest address', '(i32.const -1)'],
    ['an address that is not aligned', '(i32.const 4097)'],
    ['an address too near to the end', '(i32.const 65532)'],
    ['a trap', '(unreachable)'],
  ];

  it.each(allocators)('causes a trap if it returns %s', (_, body) => {
    const { exports } = new WebAssembly.Instance(
      compile(`(module (memory (export "memory") 1)
        (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) ${body}))`),
    );
    const { params } = funcType([{ name: 'p', type: listType(primitiveType('u64')) }]);
    expect(() => lowerParams(contextOf(exports), params, [[1n, 2n]])).toThrow();
  });

  it('causes a trap if its result is not an address', () => {
    const { exports } = new WebAssembly.Instance(
      compile(`(module (memory (export "memory") 1)
        (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i64) (i64.const 8)))`),
    );
    const { params } = funcType([{ name: 'p', type: text }]);
    expect(endOf(() => lowerParams(contextOf(exports), params, ['x'])).kind).toBe('trap');
  });

  it('may move the memory with every allocation', () => {
    const { exports } = new WebAssembly.Instance(
      compile(`(module (memory (export "memory") 1)
        (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
          (i32.mul (memory.grow (i32.const 1)) (i32.const 65536))))`),
    );
    const context = contextOf(exports);
    const type = listType(text);
    const { params } = funcType([{ name: 'p', type }]);
    const sent = ['one', 'two', 'three'];
    const core = lowerParams(context, params, [sent]);
    expect(liftOne(context, type, ...core)).toEqual(sent);
  });

  it('causes a trap if it is missing but needed', () => {
    const { exports } = new WebAssembly.Instance(compile('(module (memory (export "memory") 1))'));
    const { params } = funcType([{ name: 'p', type: text }]);
    expect(endOf(() => lowerParams(contextOf(exports), params, ['x'])).kind).toBe('trap');
  });
});

describe('a value of the host that does not have the declared type', () => {
  it.each<[Primitive, HostValue]>([
    ['u8', 256],
    ['s8', -129],
    ['u32', -1],
    ['u32', 1.5],
    ['u32', '1'],
    ['u64', 1],
    ['char', 'ab'],
    ['char', '\ud800'],
    ['char', ''],
    ['string', undefined],
    ['f64', null],
  ])('causes a trap: %s from %j', (kind, value) => {
    const { params } = funcType([{ name: 'p', type: primitiveType(kind) }]);
    expect(endOf(() => lowerParams(basicContext(), params, [value])).kind).toBe('trap');
  });

  it('causes a trap for bytes, lists and cases', () => {
    const lower = (type: AbiType, value: HostValue): string =>
      endOf(() => lowerParams(basicContext(), funcType([{ name: 'p', type }]).params, [value])).kind;
    expect(lower(listType(primitiveType('u8')), [1, 2])).toBe('trap');
    expect(lower(listType(primitiveType('u16')), 'no list')).toBe('trap');
    expect(lower(enumType(['a']), 'b')).toBe('trap');
    expect(lower(tupleType([text]), 'no tuple')).toBe('trap');
  });

  it('cannot be used to read a host resource as a record', () => {
    class Connection {
      password = 'invented';
    }
    const record = recordType([{ name: 'password', type: text }]);
    const { params } = funcType([{ name: 'p', type: record }]);
    expect(endOf(() => lowerParams(basicContext(), params, [new Connection()])).kind).toBe('trap');
    expect(endOf(() => lowerParams(basicContext(), params, [{ password: 'invented' }])).kind).toBe('none');
  });
});
