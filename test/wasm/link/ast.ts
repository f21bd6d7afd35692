/**
 * Short functions for writing components by hand.
 *
 * @module
 */
import { expect } from 'vitest';
import type { Definition, Sort, TypeDef, ValType } from '../../../guest/wasm/contract.ts';
import { exportFunc, exportResource, func } from './support.ts';

export const type = (def: TypeDef): Definition => ({ kind: 'type', type: def });
export const funcOf = (params: ValType[], result?: ValType): Definition => func(params, result) as Definition;
export const alias = (sort: Sort, instance: number, name: string): Definition => ({
  kind: 'alias',
  sort,
  target: { export: { instance, name } },
});
export const exportOf = (sort: Sort, index: number, name: string): Definition => ({
  kind: 'export',
  name,
  sort,
  index,
});
export const lift = (coreFunc: number, typeIndex: number): Definition => ({
  kind: 'canon',
  canon: { lift: { coreFunc, type: typeIndex, options: { encoding: 'utf8' } } },
});
export const lower = (index: number): Definition => ({
  kind: 'canon',
  canon: { lower: { func: index, options: { encoding: 'utf8', memory: 0, realloc: 0 } } },
});
export const lowerPlain = (index: number): Definition => ({
  kind: 'canon',
  canon: { lower: { func: index, options: { encoding: 'utf8' } } },
});
export const bundle = (...names: [string, number][]): Definition => ({
  kind: 'core-instance',
  expr: { exports: names.map(([name, index]) => ({ name, sort: 'func', index })) },
});
export const instantiateCore = (module: number, ...args: [string, number][]): Definition => ({
  kind: 'core-instance',
  expr: { instantiate: module, args: args.map(([name, instance]) => ({ name, instance })) },
});
export const FUEL = '(global (export "fuel") (mut i64) (i64.const 0))';

const ANSWER =
  '(i32.store (i32.const 68) (i32.const 100)) (i32.store (i32.const 72) (i32.const 1)) (i32.const 64)';
export const executeThat = (body: string): string =>
  `(func (export "execute") (param i32 i32) (result i32) (local $a i32) (local $b i32) ${body} ${ANSWER})`;

export const API: Definition = type({
  kind: 'instance',
  // The resource takes type 0.
  declarations: [exportResource('thing'), func(['u32']), exportFunc('log', 1)],
});

export const trapWith = (message: string): object => ({
  kind: 'trap',
  message: expect.stringContaining(message) as string,
});
