/**
 * Interfaces that attacks import, as the declarations of their instance types.
 *
 * @module
 */
import { HOST, instanceType, name, u32 } from '../../src/for-attacks.ts';
import { join, vec, type Bytes } from './bytes.ts';

export interface Interface {
  name: string;
  /** The type of the instance; `typeOf` returns the type of a resource that an earlier interface exports. */
  type: (typeOf: (resource: string) => number) => Bytes;
  functions: readonly string[];
  resources?: readonly string[];
}

export const STRING = 0x73;
const U8 = 0x7d;
export const U32 = 0x79;
export const U64 = 0x77;
const BOOL = 0x7f;
type Type = number;

const instance = (...declarations: readonly Bytes[]): Bytes => join([0x42], vec(...declarations));
const type = (...def: readonly Bytes[]): Bytes => join([1], ...def);
const list = (element: Type): Bytes => type([0x70, element]);
const own = (resource: Type): Bytes => type([0x69, resource]);
const borrow = (resource: Type): Bytes => type([0x68, resource]);
const exported = (what: string, ...desc: readonly Bytes[]): Bytes => join([4, 0], name(what), ...desc);
const exportedFunc = (what: string, func: Type): Bytes => exported(what, [1, func]);
const exportedResource = (what: string): Bytes => exported(what, [3, 1]);
const outerType = (index: number): Bytes => join([2, 3, 2, 1], u32(index));

export function func(params: readonly Type[], result?: Type): Bytes {
  const named = params.map((param, index) => join(name(`p${index}`), [param]));
  return type([0x40], vec(...named), result === undefined ? [1, 0] : [0, result]);
}

/** One interface with one function of primitive types: a way to lie about the host's functions. */
export function claim(iface: string, what: string, ...[params, result]: [Type[], Type?]): Interface {
  return {
    name: iface,
    type: () => instance(func(params, result), exportedFunc(what, 0)),
    functions: [what],
  };
}

export const LOG: Interface = {
  name: HOST.id,
  type: (typeOf) => instanceType({ of: HOST, functions: ['log'], types: [] }, typeOf),
  functions: ['log'],
};

export const FETCH: Interface = {
  name: HOST.id,
  type: (typeOf) => instanceType({ of: HOST, functions: ['fetch'], types: [] }, typeOf),
  functions: ['fetch'],
};

export const POLL: Interface = {
  name: 'wasi:io/poll@0.2.0',
  type: () =>
    instance(exportedResource('pollable'), borrow(0), func([1]), exportedFunc('[method]pollable.block', 2)),
  functions: ['[method]pollable.block'],
  resources: ['pollable'],
};

/** Replaces POLL: queries without waiting. */
export const POLL_READY: Interface = {
  name: 'wasi:io/poll@0.2.0',
  type: () =>
    instance(
      exportedResource('pollable'),
      borrow(0),
      func([1], BOOL),
      exportedFunc('[method]pollable.ready', 2),
    ),
  functions: ['[method]pollable.ready'],
  resources: ['pollable'],
};

/** After POLL. */
export const CLOCK: Interface = {
  name: 'wasi:clocks/monotonic-clock@0.2.0',
  type: (typeOf) =>
    instance(outerType(typeOf('pollable')), own(0), func([U64], 1), exportedFunc('subscribe-duration', 2)),
  functions: ['subscribe-duration'],
};

export const STREAMS: Interface = {
  name: 'wasi:io/streams@0.2.0',
  type: () => instance(exportedResource('output-stream')),
  functions: [],
  resources: ['output-stream'],
};

/** After STREAMS. */
export const STDOUT: Interface = {
  name: 'wasi:cli/stdout@0.2.0',
  type: (typeOf) =>
    instance(outerType(typeOf('output-stream')), own(0), func([], 1), exportedFunc('get-stdout', 2)),
  functions: ['get-stdout'],
};

export const EXIT: Interface = {
  name: 'wasi:cli/exit@0.2.0',
  type: () => instance(type([0x6a, 0, 0]), func([0]), exportedFunc('exit', 1)),
  functions: ['exit'],
};

export const RANDOM: Interface = {
  name: 'wasi:random/random@0.2.0',
  type: () => instance(list(U8), func([U64], 0), exportedFunc('get-random-bytes', 1)),
  functions: ['get-random-bytes'],
};
