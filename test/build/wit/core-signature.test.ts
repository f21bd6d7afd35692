import { expect, test } from 'vitest';
import { coreSignature } from '../../../src/build/wit/core-signature.ts';
import { option, own, type FunctionType, type Interface } from '../../../src/build/wit/types.ts';

const OTHER: Interface = {
  id: 'test:test/other',
  uses: {},
  types: { pair: { record: { first: 'string', second: 'u64' } } },
  functions: {},
};
const INTERFACE: Interface = {
  id: 'test:test/interface',
  uses: { pair: OTHER },
  types: {
    thing: 'resource',
    color: { enum: ['red', 'green'] },
    choice: { variant: { none: undefined, small: 'u8', wide: 'pair', text: 'string' } },
  },
  functions: {},
};

const i32s = (count: number): string[] => Array.from({ length: count }, () => 'i32');
const strings = (count: number): FunctionType['params'] =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, 'string']));

/** Title, function, and the parameters and results of its core function. */
type Row = [what: string, func: FunctionType, core: [params: string[], results: string[]]];

test.each<Row>([
  ['nothing', { params: {} }, [[], []]],
  ['one number as result', { params: { self: { borrow: 'thing' } }, result: 'color' }, [['i32'], ['i32']]],
  ['a wide number', { params: { len: 'u64' }, result: own('thing') }, [['i64'], ['i32']]],
  ['more as result', { params: { on: 'bool' }, result: 'string' }, [['i32', 'i32'], []]],
  ['a result without values', { params: {}, result: {} }, [[], ['i32']]],
  ['a result with one', { params: {}, result: { err: 'u8' } }, [['i32'], []]],
  ['an option', { params: { maybe: option('u64') } }, [['i32', 'i64'], []]],
  ['a tuple', { params: { both: { tuple: ['u16', { list: 'u8' }] } } }, [i32s(3), []]],
  ['cases that share places', { params: { choice: 'choice' } }, [['i32', 'i32', 'i32', 'i64'], []]],
  ['as many parameters as there may be', { params: strings(8) }, [i32s(16), []]],
  ['too many parameters', { params: strings(9), result: 'string' }, [i32s(2), []]],
])('the core signature is correct for %s', (_, func, [params, results]) => {
  expect(coreSignature(func, INTERFACE)).toEqual({ params, results });
});

test('an undefined type name is an error', () => {
  const func = { params: { lost: 'lost' } };
  expect(() => coreSignature(func, INTERFACE)).toThrow(
    'The interface "test:test/interface" has no type "lost"',
  );
});
