/**
 * The host computes some hashes: which functions of the engine are replaced for that, with what consequences for the rest of
 * the module, and what the host's function accepts.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import * as fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { Reader } from '../../../guest/wasm/binary/reader.ts';
import { Cards } from '../../../guest/wasm/imaged/cards.ts';
import { GuestMemory } from '../../../guest/wasm/imaged/guest-memory.ts';
import { readBody } from '../../../guest/wasm/python/dlopen/instructions.ts';
import { KEPT_EXPORTS, OWN_TABLES } from '../../../guest/wasm/python/engine/exports.ts';
import { FAMILIES } from '../../../guest/wasm/python/engine/hash-functions.ts';
import {
  HASH_TABLE_INDEX,
  hashRelayModule,
  HOST_HASHES,
  MAX_BYTES,
} from '../../../guest/wasm/python/engine/hash-table.ts';
import { withHostHash } from '../../../guest/wasm/python/engine/host-hash.ts';
import { markStores } from '../../../guest/wasm/python/engine/mark-stores.ts';
import { rewriteModule } from '../../../guest/wasm/python/engine/rewrite.ts';
import { HashCalls } from '../../../guest/wasm/python/host/hash-calls.ts';
import { checkMarks } from './check-marks.ts';
import { takeInventory } from './inventory.ts';

const SECTION = { types: 1, imports: 2, functions: 3, tables: 4, code: 10 };
const CHANGED: readonly number[] = [SECTION.types, SECTION.functions, SECTION.tables, SECTION.code];
const CALL_INDIRECT = 0x11;

const engine = new Uint8Array(
  readFileSync(createRequire(import.meta.url).resolve('pyodide/pyodide.asm.wasm')),
);
const hooked = withHostHash(engine);
const [before, after] = [takeInventory(engine), takeInventory(hooked)];
const replaced = FAMILIES.flatMap(({ update, digest, copy }) => [update.index, digest.index, copy.index]);

function sections(bytes: Uint8Array): Map<number, Uint8Array[]> {
  const reader = new Reader(bytes, 8);
  const found = new Map<number, Uint8Array[]>();
  while (!reader.done) {
    const id = reader.byte();
    const section = reader.window(reader.u32());
    const bodies = bytes.subarray(section.position, section.end);
    found.set(id, [...(found.get(id) ?? []), bodies]);
  }
  return found;
}

/** The bodies of a module by the index of the function. */
function bodies(bytes: Uint8Array): Map<number, Uint8Array> {
  const [code = new Uint8Array()] = sections(bytes).get(SECTION.code) ?? [];
  const reader = new Reader(code);
  const found = new Map<number, Uint8Array>();
  for (let left = reader.u32(), index = before.importedFunctions; left > 0; left--) {
    const body = reader.window(reader.u32());
    found.set(index++, code.subarray(body.position, body.end));
  }
  return found;
}

describe('the module', () => {
  const [old, now] = [bodies(engine), bodies(hooked)];

  test('has other types, functions, tables and code, and is otherwise the same', () => {
    const [one, two] = [sections(engine), sections(hooked)];
    expect([...two.keys()]).toEqual([...one.keys()]);
    const changed = [...one].flatMap(([id, parts]) =>
      parts.some((part, at) => Buffer.compare(part, two.get(id)?.[at] ?? Buffer.of()) !== 0) ? [id] : [],
    );
    expect(changed.toSorted((a, b) => a - b)).toEqual(CHANGED);
  });

  test('has other bodies of six functions, whose old bodies are at the end', () => {
    const differing = [...old].flatMap(([index, body]) =>
      Buffer.compare(body, now.get(index) ?? Buffer.of()) === 0 ? [] : [index],
    );
    expect(differing.toSorted((a, b) => a - b)).toEqual(replaced.toSorted((a, b) => a - b));
    expect(now.size).toBe(old.size + 8);
    const added = [...now].slice(old.size).map(([, body]) => Buffer.from(body).toString('hex'));
    for (const index of replaced) expect(added).toContain(Buffer.from(old.get(index) ?? []).toString('hex'));
  });

  test('calls through the new table only from the two functions that compute a digest', () => {
    const callers = [...now].flatMap(([index, body]) => {
      let calls = 0;
      readBody(new Reader(body), ({ opcode, second }) => {
        if (opcode === CALL_INDIRECT && second === HASH_TABLE_INDEX) calls++;
      });
      return calls === 0 ? [] : [index];
    });
    expect(callers).toEqual(FAMILIES.map(({ digest }) => digest.index).toSorted((a, b) => a - b));
  });

  test('has one more table, of fixed size, and still changes only its memory and the stack pointer', () => {
    expect(after.tables).toBe(before.tables + 1);
    expect(after.tableWriters).toEqual(before.tableWriters);
    expect([...after.writers.keys()]).toEqual([...before.writers.keys()]);
    expect([after.memories, after.memoryGrow, after.globals]).toEqual([1, 0, before.globals]);
    expect(after.tableEntries).toEqual(before.tableEntries);
  });

  test('is valid, and every store of it is marked', () => {
    const options = { minPages: 128, maxPages: 65_536, keep: KEPT_EXPORTS, tables: OWN_TABLES };
    const { module } = rewriteModule(hooked, options);
    const marked = markStores(module);
    expect(checkMarks(module, marked).stores).toBeGreaterThan(100_000);
    expect(WebAssembly.validate(marked)).toBe(true);
    expect(WebAssembly.validate(hashRelayModule())).toBe(true);
  });

  test.each(replaced)('is refused if function %i is another one', (index) => {
    const body = old.get(index) as Uint8Array;
    const other = engine.slice();
    const at = Buffer.from(engine.buffer).indexOf(Buffer.from(body));
    other[at + body.length - 2] = (other[at + body.length - 2] ?? 0) ^ 1;
    expect(() => withHostHash(other)).toThrow(`Function ${index} of the engine has an unexpected digest`);
  });
});

describe('the function of the host', () => {
  const BYTES = 4 * 65_536;
  const image = new Uint8Array(BYTES).map((_, at) => at * 7);

  /** The function once it computes: it declines until one call hashed much. */
  function hashCall(guest: GuestMemory): HashCalls['hash'] {
    const calls = new HashCalls(guest);
    let declined = 0;
    while (calls.hash(0, 0, 65_536, 0) === 0) declined++;
    expect(declined).toBe(63);
    return calls.hash;
  }

  function open(): { memory: WebAssembly.Memory; guest: GuestMemory } {
    const memory = new WebAssembly.Memory({ initial: 4, maximum: 4 });
    const guest = new GuestMemory(memory, new Cards({ maxPages: 4, isComplete: true }));
    guest.restore(image);
    return { memory, guest };
  }

  test('writes the digest of any bytes, also where they are, and marks it', () => {
    const { memory, guest } = open();
    const hash = hashCall(guest);
    guest.restore(image);
    const where = fc.record({
      algorithm: fc.nat(HOST_HASHES.length - 1),
      from: fc.nat(BYTES - MAX_BYTES),
      length: fc.oneof(fc.nat(300), fc.nat(MAX_BYTES)),
      into: fc.nat(BYTES - 32),
    });
    fc.assert(
      fc.property(where, ({ algorithm, from, length, into }) => {
        hash(algorithm, from, length, into);
        const name = HOST_HASHES[algorithm] ?? '';
        const digest = createHash(name)
          .update(image.subarray(from, from + length))
          .digest();
        const expected = Buffer.from(image);
        expected.set(digest, into);
        expect(Buffer.compare(new Uint8Array(memory.buffer), expected)).toBe(0);
        guest.restore(image);
        expect(Buffer.compare(new Uint8Array(memory.buffer), image)).toBe(0);
      }),
      { numRuns: 300 },
    );
  });

  test.each<[string, [number, number, number, number]]>([
    ['an unknown algorithm', [HOST_HASHES.length, 0, 64, 0]],
    ['a negative algorithm', [-1, 0, 64, 0]],
    ['more than it computes without a break', [0, 0, MAX_BYTES + 1, 0]],
    ['a negative length', [0, 0, -1, 0]],
    ['data that begins outside the memory', [0, BYTES + 1, 0, 0]],
    ['data that ends outside the memory', [0, BYTES - 63, 64, 0]],
    ['a negative address', [0, -64, 64, 0]],
    ['a digest that ends outside the memory', [0, 0, 64, BYTES - 31]],
    ['a digest at a negative address', [0, 0, 64, -4]],
  ])('refuses %s, and writes nothing', (_, parameters) => {
    const { memory, guest } = open();
    const hash = hashCall(guest);
    guest.restore(image);
    expect(() => hash(...parameters)).toThrow(RangeError);
    expect(Buffer.compare(new Uint8Array(memory.buffer), image)).toBe(0);
  });

  test('follows a memory that grew', () => {
    const memory = new WebAssembly.Memory({ initial: 1, maximum: 2 });
    const hash = hashCall(new GuestMemory(memory));
    hash(0, 200, 64, 100);
    memory.grow(1);
    hash(0, 200, 64, 65_536 + 100);
    const bytes = Buffer.from(memory.buffer);
    expect(bytes.subarray(65_636, 65_668)).toEqual(bytes.subarray(100, 132));
    expect(bytes.subarray(100, 132)).toEqual(createHash('sha256').update(Buffer.alloc(64)).digest());
  });

  test.each<[string, () => void]>([
    ['the view', () => vi.stubGlobal('DataView', overflows)],
    ['the array', () => vi.stubGlobal('Uint8Array', overflows)],
    ['the text', () => void vi.spyOn(Buffer, 'from').mockImplementation(overflows)],
  ])('works, and so does a reset, after the stack overflowed when a memory had grown: %s', (_, overflow) => {
    const memory = new WebAssembly.Memory({ initial: 4, maximum: 5 });
    const guest = new GuestMemory(memory, new Cards({ maxPages: 5, isComplete: true }));
    guest.restore(image);
    const hash = hashCall(guest);
    guest.restore(image);
    guest.setU32(0, 7);
    memory.grow(1);
    overflow();
    expect(() => guest.setU32(4, 7)).toThrow('call stack');
    vi.unstubAllGlobals();
    vi.restoreAllMocks();
    guest.restore(image);
    expect(Buffer.compare(new Uint8Array(memory.buffer, 0, BYTES), image)).toBe(0);
    expect(hash(0, 200, 64, BYTES + 100)).toBe(1);
    expect(guest.u32(BYTES + 100)).not.toBe(0);
  });
});

function overflows(): never {
  throw new RangeError('Maximum call stack size exceeded');
}
