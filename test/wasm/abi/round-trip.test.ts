import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { liftParams, liftResult } from '../../../guest/wasm/abi/lift.ts';
import { goesByMemory, lowerParams, lowerResult } from '../../../guest/wasm/abi/lower.ts';
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
import type { CanonOptions, HostValue, Primitive } from '../../../guest/wasm/contract.ts';
import { compile, contextOf, GUEST_BASICS } from './support.ts';

interface Sample {
  type: AbiType;
  values: fc.Arbitrary<HostValue>;
}

const SCALARS: [Primitive, fc.Arbitrary<HostValue>][] = [
  ['bool', fc.boolean()],
  ['u8', fc.integer({ min: 0, max: 0xff })],
  ['s8', fc.integer({ min: -0x80, max: 0x7f })],
  ['u16', fc.integer({ min: 0, max: 0xffff })],
  ['s16', fc.integer({ min: -0x8000, max: 0x7fff })],
  ['u32', fc.integer({ min: 0, max: 0xffff_ffff })],
  ['s32', fc.integer()],
  ['u64', fc.bigInt({ min: 0n, max: (1n << 64n) - 1n })],
  ['s64', fc.bigInt({ min: -(1n << 63n), max: (1n << 63n) - 1n })],
  ['f32', fc.float()],
  ['f64', fc.double()],
  ['char', fc.string({ minLength: 1, maxLength: 1, unit: 'binary' })],
  ['string', fc.string({ unit: 'binary', maxLength: 20 })],
];

const scalarSample: fc.Arbitrary<Sample> = fc
  .constantFrom(...SCALARS)
  .map(([kind, values]) => ({ type: primitiveType(kind), values }));

const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `n-${index}`);
const noSample: Sample = { type: primitiveType('bool'), values: fc.constant(undefined) };

function record(fields: Sample[]): Sample {
  const type = recordType(fields.map((field, index) => ({ name: `f-${index}`, type: field.type })));
  const values = fc.record(Object.fromEntries(fields.map((field, index) => [`f-${index}`, field.values])));
  return { type, values };
}

function tuple(fields: Sample[]): Sample {
  return {
    type: tupleType(fields.map((one) => one.type)),
    values: fc.tuple(...fields.map((one) => one.values)),
  };
}

function list(element: Sample): Sample {
  const values =
    element.type.kind === 'u8'
      ? fc.uint8Array({ maxLength: 20 })
      : fc.array(element.values, { maxLength: 4 });
  return { type: listType(element.type), values };
}

function variant(cases: (Sample | undefined)[]): Sample {
  const type = variantType(cases.map((one, index) => ({ name: `c-${index}`, type: one?.type })));
  const values = cases.map((one, index) =>
    (one ?? noSample).values.map((val) => ({ tag: `c-${index}`, val: one === undefined ? undefined : val })),
  );
  return { type, values: fc.oneof(...values) };
}

function option(some: Sample): Sample {
  const value = some.type.kind === 'option' ? some.values.map((inner) => ({ some: inner })) : some.values;
  return { type: optionType(some.type), values: fc.option(value, { nil: undefined }) };
}

function result(ok: Sample | undefined, err: Sample | undefined): Sample {
  const values = fc.oneof(
    (ok ?? noSample).values.map((value) => ({ ok: ok && value })),
    (err ?? noSample).values.map((value) => ({ err: err && value })),
  );
  return { type: resultType(ok?.type, err?.type), values };
}

function flags(count: number): Sample {
  return {
    type: flagsType(names(count)),
    values: fc.record(Object.fromEntries(names(count).map((name) => [name, fc.boolean()]))),
  };
}

function enumeration(count: number): Sample {
  return { type: enumType(names(count)), values: fc.constantFrom(...names(count)) };
}

const { sample } = fc.letrec<{ sample: Sample }>((tie) => ({
  sample: fc.oneof(
    { maxDepth: 4, depthSize: 'small', withCrossShrink: true },
    scalarSample,
    fc.integer({ min: 1, max: 32 }).map(flags),
    fc.constantFrom(1, 2, 255, 256, 257, 300).map(enumeration),
    fc.array(tie('sample'), { minLength: 1, maxLength: 5 }).map(record),
    fc.array(tie('sample'), { minLength: 1, maxLength: 5 }).map(tuple),
    tie('sample').map(list),
    fc.array(fc.option(tie('sample'), { nil: undefined }), { minLength: 1, maxLength: 4 }).map(variant),
    tie('sample').map(option),
    fc
      .tuple(fc.option(tie('sample'), { nil: undefined }), fc.option(tie('sample'), { nil: undefined }))
      .map(([ok, err]) => result(ok, err)),
  ),
}));

/** One to three parameters with a type and values for each. */
const call = fc
  .array(sample, { minLength: 1, maxLength: 3 })
  .chain((params) =>
    fc.tuple(fc.constant(params.map((one) => one.type)), fc.tuple(...params.map((one) => one.values))),
  );
const encodings = fc.constantFrom<CanonOptions['encoding']>('utf8', 'utf16', 'latin1+utf16');

/** Lowers into a core function that returns its arguments unchanged, and lifts the result. */
function throughParams(
  types: AbiType[],
  values: HostValue[],
  encoding: CanonOptions['encoding'],
): HostValue[] {
  const { params } = funcType(types.map((type, index) => ({ name: `p${index}`, type })));
  const flat = params?.flat ?? ['i32'];
  const module = compile(`(module
    (import "host" "take" (func $take (param ${flat.join(' ')})))
    ${GUEST_BASICS}
    (func (export "pass") (param ${flat.join(' ')})
      (call $take ${flat.map((_, index) => `(local.get ${index})`).join(' ')})))`);
  let arrived: unknown[] = [];
  const host = { take: (...args: unknown[]) => void (arrived = args) };
  const { exports } = new WebAssembly.Instance(module, { host });
  const context = contextOf(exports, { encoding });
  (exports['pass'] as CallableFunction)(...lowerParams(context, params, values));
  return liftParams(context, params, arrived);
}

const copier = compile(`(module ${GUEST_BASICS}
  (func (export "copy") (param $to i32) (param $from i32) (param $size i32)
    (memory.copy (local.get $to) (local.get $from) (local.get $size))))`);

/** Lowers as a result, has the guest copy it to another address, and lifts it from there. */
function throughResult(type: AbiType, value: HostValue, encoding: CanonOptions['encoding']): HostValue {
  const { exports } = new WebAssembly.Instance(copier);
  const context = contextOf(exports, { encoding });
  const from = context.allocate(type.size, type.align);
  const flat = lowerResult(context, type, { value, address: from });
  if (!goesByMemory(type)) return liftResult(context, type, flat);
  const to = context.allocate(type.size, type.align);
  (exports['copy'] as CallableFunction)(to, from, type.size);
  return liftResult(context, type, to);
}

describe('values through the canonical ABI', () => {
  it('arrive unchanged as parameters of a core function', () => {
    fc.assert(
      fc.property(call, encodings, ([types, values], encoding) => {
        expect(throughParams(types, values, encoding)).toEqual(values);
      }),
      { numRuns: 300 },
    );
  });

  it('arrive unchanged as a result in memory', () => {
    const one = sample.chain(({ type, values }) => fc.tuple(fc.constant(type), values));
    fc.assert(
      fc.property(one, encodings, ([type, value], encoding) => {
        expect(throughResult(type, value, encoding)).toEqual(value);
      }),
      { numRuns: 500 },
    );
  });

  it.each(SCALARS)('of type %s arrive unchanged, alone and in a list', (kind, values) => {
    const type = primitiveType(kind);
    const element = kind === 'u8' ? fc.uint8Array() : fc.array(values);
    fc.assert(
      fc.property(values, element, (value, several) => {
        expect(throughResult(type, value, 'utf8')).toEqual(value);
        expect(throughResult(listType(type), several, 'utf8')).toEqual(several);
      }),
      { numRuns: 50 },
    );
  });

  it('distinguish an empty option from an option of an empty option', () => {
    const type = optionType(optionType(primitiveType('u8')));
    for (const value of [undefined, { some: undefined }, { some: 7 }]) {
      expect(throughResult(type, value, 'utf8')).toStrictEqual(value);
    }
  });
});
