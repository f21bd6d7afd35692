/**
 * Images of memories: restoring one gives a memory exactly the content that it had, whatever it contains by then.
 */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { Image } from '../../../guest/wasm/imaged/image.ts';
import { layParts, takeParts } from '../../../guest/wasm/imaged/memory.ts';

const PAGE_BYTES = 65_536;

interface Place {
  at: number;
  length: number;
  value: number;
}

const places = fc.array(
  fc.record({
    at: fc.integer({ min: 0, max: 3 * PAGE_BYTES }),
    length: fc.integer({ min: 1, max: 9000 }),
    value: fc.integer({ min: 0, max: 255 }),
  }),
  { maxLength: 8 },
);

function write(memory: Uint8Array, written: readonly Place[]): void {
  for (const { at, length, value } of written) memory.fill(value, at, at + length);
}

test('the parts of a memory restore each of its bytes', () => {
  const isRestored = (bytes: number, before: readonly Place[], after: readonly Place[]): void => {
    const memory = new Uint8Array(bytes);
    write(memory, before);
    const expected = memory.slice();
    const [parts] = takeParts([memory]) ?? [];
    write(memory, after);
    layParts(memory, parts ?? []);
    expect(Buffer.compare(memory, expected)).toBe(0);
  };
  // Also sizes that no block divides.
  const bytes = fc.oneof(fc.constant(3 * PAGE_BYTES), fc.integer({ min: 0, max: 3 * PAGE_BYTES }));
  fc.assert(fc.property(bytes, places, places, isRestored));
});

test('an image restores a memory that was overwritten completely, and another one of the same size', () => {
  const state = { memories: ['memory'], globals: [] };
  const memory = new WebAssembly.Memory({ initial: 3 });
  const bytes = new Uint8Array(memory.buffer);
  write(bytes, [
    { at: 5000, length: 1, value: 7 },
    { at: 3 * PAGE_BYTES - 1, length: 1, value: 9 },
  ]);
  const expected = bytes.slice();
  const image = Image.of([{ state }], [{ memory }]);
  bytes.fill(255);
  expect(image?.restore([{ state }], [{ memory }])).toBe(true);
  expect(Buffer.compare(bytes, expected)).toBe(0);
  const other = new WebAssembly.Memory({ initial: 3 });
  expect(image?.restore([{ state }], [{ memory: other }])).toBe(true);
  expect(Buffer.compare(new Uint8Array(other.buffer), expected)).toBe(0);
});

test('a memory that grew, and one whose image was released, are not restored', () => {
  const state = { memories: ['memory'], globals: [] };
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 2 });
  const image = Image.of([{ state }], [{ memory }]);
  memory.grow(1);
  expect(image?.restore([{ state }], [{ memory }])).toBe(false);
  const last = Image.of([{ state }], [{ memory }]);
  last?.release();
  expect(last?.restore([{ state }], [{ memory }])).toBe(false);
});

test('zeros need no memory, and do not count towards the maximum', () => {
  const memory = new Uint8Array(160 * 1024 * 1024);
  memory[memory.length - 1] = 1;
  const [parts = []] = takeParts([memory]) ?? [];
  expect(parts.map(({ bytes }) => bytes.length)).toEqual([4096]);
  memory.fill(1);
  expect(takeParts([memory])).toBeUndefined();
});
