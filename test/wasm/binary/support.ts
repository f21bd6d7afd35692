/**
 * Binaries for tests: core modules from text, components from sections.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import initWabt from 'wabt';
import { parseComponent, type ParsedComponent } from '../../../guest/wasm/binary/component.ts';
import { parseCoreModule, type CoreModule } from '../../../guest/wasm/binary/core-module.ts';
import { BinaryError, Reader } from '../../../guest/wasm/binary/reader.ts';
import { thrownOf } from '../../thrown.ts';

const FEATURES = {
  exceptions: true,
  bulk_memory: true,
  reference_types: true,
  tail_call: true,
  simd: true,
  multi_value: true,
  threads: true,
  memory64: true,
  multi_memory: true,
  extended_const: true,
  relaxed_simd: true,
};

const wabt = await initWabt();

export function wat(text: string): Uint8Array<ArrayBuffer> {
  const module = wabt.parseWat('test.wat', text, FEATURES);
  try {
    return new Uint8Array(module.toBinary({}).buffer);
  } finally {
    module.destroy();
  }
}

export function parseModule(bytes: Uint8Array): CoreModule {
  return parseCoreModule(new Reader(bytes));
}

export function parse(bytes: Uint8Array): ParsedComponent {
  return parseComponent(new Reader(bytes));
}

/** Runs something that must be refused, and returns the refusal. */
export function refusal(run: () => unknown): BinaryError {
  return thrownOf(BinaryError, run);
}

export function fixture(name: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(readFileSync(fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url))));
}

// --- components, byte by byte -------------------------------------------------------------------------------

export type Bytes = readonly number[];

export function leb(value: number): Bytes {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...leb(value >>> 7)];
}

export function str(text: string): Bytes {
  const encoded = [...new TextEncoder().encode(text)];
  return [...leb(encoded.length), ...encoded];
}

export function section(id: number, content: Bytes): Bytes {
  return [id, ...leb(content.length), ...content];
}

/** A section that is a list. */
export function list(id: number, ...items: readonly Bytes[]): Bytes {
  return section(id, [...leb(items.length), ...items.flat()]);
}

export function component(...sections: readonly Bytes[]): Uint8Array<ArrayBuffer> {
  return Uint8Array.from([0, 0x61, 0x73, 0x6d, 0x0d, 0, 1, 0, ...sections.flat()]);
}

/** The type section of `execute`: 0 = result<string, string>, 1 = func(params: string) -> 0. */
export const EXECUTE_TYPES: Bytes = list(
  7,
  [0x6a, 1, 0x73, 1, 0x73],
  [0x40, 1, ...str('params'), 0x73, 0, 0],
);

export const SKILL_CORE = `(module
  (memory (export "memory") 1)
  (func (export "execute") (param i32 i32) (result i32) (i32.const 0))
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 64)))`;

/** A component with one core module, aliases of its exports and `execute` lifted from it. */
export function skillComponent(...more: readonly Bytes[]): Uint8Array<ArrayBuffer> {
  return component(
    EXECUTE_TYPES,
    section(1, [...wat(SKILL_CORE)]),
    list(2, [0, 0, 0]),
    list(
      6,
      [0, 2, 1, 0, ...str('memory')],
      [0, 0, 1, 0, ...str('execute')],
      [0, 0, 1, 0, ...str('cabi_realloc')],
    ),
    list(8, [0, 0, 0, 2, 3, 0, 4, 1, 1]),
    list(11, [0, ...str('execute'), 1, 0, 0]),
    ...more,
  );
}
