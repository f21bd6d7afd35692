import { describe, expect, test } from 'vitest';
import { install } from '../../../guest/wasm/install/plan.ts';
import {
  component,
  fixture,
  list,
  refusal,
  section,
  skillComponent,
  str,
  wat,
  type Bytes,
} from '../binary/support.ts';

const OPTIONS = { maxPages: 16 };

function why(bytes: Uint8Array): string {
  return refusal(() => install(bytes, OPTIONS)).message;
}

const COMMAND = (more: string): Uint8Array =>
  wat(`(module (import "wasi_snapshot_preview1" "proc_exit" (func (param i32))) ${more})`);

describe('an installed component', () => {
  test('has its entry, imports and metered modules', () => {
    const { plan, modules } = install(fixture('hosted.wasm'), OPTIONS);
    expect(plan).toMatchObject({
      version: 1,
      format: 'component',
      entry: 'execute',
      entryExport: 'execute',
      imports: ['skillcell:fixture/host'],
    });
    expect(modules).toHaveLength(3);
    expect(modules.every((bytes) => WebAssembly.validate(bytes.slice()))).toBe(true);
    expect(plan.modules.map((facts) => facts.bytes)).toEqual(modules.map((bytes) => bytes.length));
  });

  test('has a plan that crosses a process boundary as JSON', () => {
    const { plan } = install(fixture('hosted.wasm'), OPTIONS);
    expect(JSON.parse(JSON.stringify(plan))).toEqual(plan);
  });

  test('is refused without an entry, or with an entry of another type', () => {
    expect(why(component())).toContain('neither');
    const types = list(7, [0x40, 0, 1, 0]);
    const bytes = component(
      types,
      list(10, [0, ...str('given'), 1, 0]),
      list(11, [0, ...str('execute'), 1, 0, 0]),
    );
    expect(why(bytes)).toContain('but not as "execute: func(params: string) -> result<string, string>"');
  });

  test('may have "wasi:cli/run" as its entry', () => {
    const types = list(7, [0x6a, 0, 0], [0x40, 0, 0, 0]);
    const run = (name: string): Uint8Array =>
      component(
        types,
        list(10, [0, ...str('given'), 1, 1]),
        list(5, [1, 1, 0, ...str('run'), 1, 0]),
        list(11, [0, ...str(name), 5, 0, 0]),
      );
    expect(install(run('wasi:cli/run@0.2.3'), OPTIONS).plan).toMatchObject({
      entry: 'run',
      entryExport: 'wasi:cli/run@0.2.3',
    });
    expect(why(run('wasi:cli/run@0.3.0'))).toContain('neither');
  });

  test('has no module that can be linked to the fuel of another', () => {
    const name = install(skillComponent(), OPTIONS).plan.modules[0]?.fuelExport as string;
    const thief = section(1, [...wat(`(module (import "m" "${name}" (global (mut i64))))`)]);
    const alias: Bytes = list(6, [0, 3, 1, 0, ...str(name)]);
    expect(refusal(() => install(skillComponent(alias), OPTIONS)).message).toContain(
      'does not export the global',
    );
    const { plan } = install(skillComponent(thief), OPTIONS);
    expect(plan.modules.map((facts) => facts.fuelExport)).not.toContain(name);
  });

  test('must fit the limit with the memories of all instances together', () => {
    const memory = (pages: number): Bytes => section(1, [...wat(`(module (memory ${pages}))`)]);
    const instances = (count: number): Bytes =>
      list(2, ...Array.from({ length: count }, (): Bytes => [0, 1, 0]));
    expect(() => install(skillComponent(memory(15), instances(1)), OPTIONS)).not.toThrow();
    expect(why(skillComponent(memory(5), instances(4)))).toContain('start with 21 pages');
    expect(why(skillComponent(memory(17)))).toContain('limit is 16');
  });

  test('is refused with the offset if a core module is invalid', () => {
    // The function declares an i64 result and returns an i32.
    const broken = wat('(module (func (result i32) (i32.const 0)))').with(14, 0x7e);
    const error = refusal(() => install(skillComponent(section(1, [...broken])), OPTIONS));
    expect(error.message).toContain('not valid');
    expect(error.offset).toBeGreaterThan(skillComponent().length);
  });
});

describe('a module', () => {
  test('is installed as a WASI preview1 command', () => {
    const { plan, modules } = install(
      COMMAND('(memory (export "memory") 1) (func (export "_start"))'),
      OPTIONS,
    );
    expect(plan).toMatchObject({
      format: 'command',
      entry: '_start',
      imports: ['wasi_snapshot_preview1.proc_exit'],
      modules: [{ functions: 1, memories: [{ min: 1, max: 16 }] }],
    });
    expect(modules).toHaveLength(1);
  });

  test.each([
    ['no "_start"', COMMAND('(memory (export "memory") 1)'), '_start'],
    [
      'a "_start" that takes values',
      COMMAND('(memory (export "memory") 1) (func (export "_start") (param i32))'),
      '_start',
    ],
    ['no memory', COMMAND('(func (export "_start"))'), '"memory"'],
    [
      'imports of something else',
      wat('(module (import "env" "f" (func)) (func (export "_start")))'),
      'not WASI preview1',
    ],
    [
      'an unknown function',
      wat('(module (import "wasi_snapshot_preview1" "fd_own" (func)))'),
      'not WASI preview1',
    ],
    [
      'an imported memory',
      wat('(module (import "wasi_snapshot_preview1" "fd_read" (memory 1)))'),
      'not WASI preview1',
    ],
  ])('is refused with %s', (_, bytes, message) => {
    expect(why(bytes)).toContain(message);
  });

  test('a body that does not type-check is refused with its offset in the file', () => {
    const bytes = COMMAND(
      '(memory (export "memory") 1) (func (export "_start") (drop (i32.add (i32.const 1) (i32.const 1))))',
    );
    // i32.add becomes f32.add.
    const broken = bytes.with(bytes.lastIndexOf(0x6a), 0x92);
    const error = refusal(() => install(broken, OPTIONS));
    expect(error.message).toContain('not valid');
    expect(Math.abs(error.offset - bytes.lastIndexOf(0x6a))).toBeLessThan(6);
  });
});

test.each([
  ['empty', []],
  ['short', [0, 0x61, 0x73, 0x6d]],
  ['text', [...new TextEncoder().encode('#!/bin/sh\necho hello')]],
  ['an unknown version', [0, 0x61, 0x73, 0x6d, 2, 0, 0, 0]],
  ['a component of another version', [0, 0x61, 0x73, 0x6d, 0x0e, 0, 1, 0]],
])('a file that is not WebAssembly is refused: %s', (_, bytes) => {
  expect(refusal(() => install(Uint8Array.from(bytes), OPTIONS)).offset).toBeLessThan(9);
});
