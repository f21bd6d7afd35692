/**
 * Every write of a rewritten module is marked, and nothing else about it changes: the engine is checked instruction by
 * instruction, every instruction of WebAssembly that has to do with memory is run, and random programs are compared.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BULK, IMMEDIATE, PLAIN, SIMD } from '../../../guest/wasm/binary/opcodes.ts';
import { Cards } from '../../../guest/wasm/imaged/cards.ts';
import { KEPT_EXPORTS, REFERENCE_TABLES } from '../../../guest/wasm/python/engine/exports.ts';
import { BULK_WRITES, markStores, STORES } from '../../../guest/wasm/python/engine/mark-stores.ts';
import { rewriteModule } from '../../../guest/wasm/python/engine/rewrite.ts';
import { tableArities, trampolineModule } from '../../../guest/wasm/python/engine/trampoline.ts';
import { wat } from '../binary/support.ts';
import { checkMarks } from './check-marks.ts';
import { memoryProgram, type Access } from './memory-program.ts';

const CARD = 4096;
const PAGES = 3;
const BYTES = PAGES * 65_536;

const engine = new Uint8Array(
  readFileSync(createRequire(import.meta.url).resolve('pyodide/pyodide.asm.wasm')),
);

describe('the engine', () => {
  test('marks before every store, and is otherwise the same', () => {
    const keep = [...KEPT_EXPORTS];
    const { module } = rewriteModule(engine, {
      minPages: 128,
      maxPages: 65_536,
      keep,
      tables: REFERENCE_TABLES,
    });
    const { stores, bulk } = checkMarks(module, markStores(module));
    expect(stores).toBeGreaterThan(50_000);
    expect(bulk).toBeGreaterThan(100);
  });

  test('is entered through a trampoline that marks as well', () => {
    const trampoline = trampolineModule(tableArities(engine));
    expect(checkMarks(trampoline, markStores(trampoline))).toEqual({ stores: 2, bulk: 0 });
  });
});

/** The instructions that read or resize a memory, from the specification. */
const OTHERS = new Set([
  ...range(0x28, 0x35),
  ...range(0xfd00, 0xfd0a),
  ...range(0xfd54, 0xfd57),
  ...[0xfd5c, 0xfd5d, 0x3f, 0x40],
]);
const MEMORY_INIT = 0xfc08;

test('every instruction that names a memory is known', () => {
  const kinds = new Set<number>(
    (['memarg', 'memargLane', 'memory', 'memoryCopy', 'memoryInit'] as const).map((name) => IMMEDIATE[name]),
  );
  const tables = [
    [PLAIN, 0],
    [BULK, 0xfc00],
    [SIMD, 0xfd00],
  ] as const;
  const found = tables.flatMap(([{ immediates }, prefix]) =>
    [...immediates.entries()].filter(([, kind]) => kinds.has(kind)).map(([code]) => prefix + code),
  );
  expect(new Set(found)).toEqual(new Set([...OTHERS, ...STORES.keys(), ...BULK_WRITES, MEMORY_INIT]));
});

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, at) => from + at);
}

interface Run {
  memory: Uint8Array;
  trap: boolean;
}

/** Deterministic, and no byte is what a store would write. */
function pattern(): Uint8Array {
  return Uint8Array.from({ length: BYTES }, (_, at) => (at * 7 + (at >>> 8)) & 0x7f);
}

function run(module: Uint8Array, cards?: Cards): Run {
  const memory = new WebAssembly.Memory({ initial: PAGES, maximum: PAGES });
  new Uint8Array(memory.buffer).set(pattern());
  const env = { memory, ...(cards && { cards: cards.memory }) };
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(module), { env });
  let trap = false;
  try {
    (exports['run'] as () => void)();
  } catch (error) {
    if (!(error instanceof WebAssembly.RuntimeError)) throw error;
    trap = true;
  }
  // Growth, even by nothing, replaces the buffer.
  return { memory: new Uint8Array(memory.buffer), trap };
}

/** Both do the same, and what is restored from the marks is what was there before. */
function expectSound(accesses: readonly Access[]): Run {
  const module = memoryProgram(accesses);
  const cards = new Cards({ maxPages: PAGES, isComplete: true });
  const image = pattern();
  // From now on, only what is marked is restored.
  cards.restore(new Uint8Array(BYTES), image);
  const [plain, marked] = [run(module), run(markStores(module), cards)];
  expect(marked.trap).toBe(plain.trap);
  expect(Buffer.compare(marked.memory, plain.memory)).toBe(0);
  cards.restore(marked.memory, image);
  expect(Buffer.compare(marked.memory, image)).toBe(0);
  return plain;
}

describe('an instruction', () => {
  const WRITES = [...STORES.keys(), ...BULK_WRITES];

  test.each(WRITES.map((opcode) => [opcode.toString(16), opcode] as const))(
    '%s is marked where it writes',
    (_, opcode) => {
      for (const at of [0, 1, CARD - 17, CARD - 1, CARD, BYTES - 64, BYTES - 16]) {
        const { memory, trap } = expectSound([
          { opcode, address: at, offset: 0, length: 9, source: 3 * CARD },
        ]);
        expect(trap).toBe(false);
        expect(Buffer.compare(memory, pattern())).not.toBe(0);
      }
    },
  );

  test.each([...OTHERS].map((opcode) => [opcode.toString(16), opcode] as const))(
    '%s writes nothing',
    (_, opcode) => {
      const { memory } = run(memoryProgram([{ opcode, address: 100, offset: 0, length: 0, source: 0 }]));
      expect(Buffer.compare(memory, pattern())).toBe(0);
    },
  );
});

const near = (base: number, by: number): fc.Arbitrary<number> =>
  fc.integer({ min: -by, max: by }).map((n) => Math.max(0, base + n));
const address = fc.oneof(
  fc.integer({ min: 0, max: BYTES + 40 }),
  fc.integer({ min: 0, max: BYTES / CARD }).chain((card) => near(card * CARD, 20)),
  near(0xffff_ffff - 20, 20),
);
const offset = fc.oneof(
  fc.constant(0),
  near(CARD, 20),
  near(2 * CARD, 20),
  fc.integer({ min: 0, max: BYTES }),
  fc.constantFrom(0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0xffff_f000),
);
const length = fc.oneof(
  fc.integer({ min: 0, max: 40 }),
  fc.integer({ min: 0, max: BYTES }),
  near(CARD, 20),
  fc.constantFrom(0xffff_ffff, 0xffff_f000, 0xffff_e001),
);
const access: fc.Arbitrary<Access> = fc.record({
  opcode: fc.constantFrom(...STORES.keys(), ...BULK_WRITES),
  address,
  offset,
  length,
  source: fc.integer({ min: 0, max: BYTES }),
});

test('random programs do the same with marks, and leave nothing that the marks do not undo', () => {
  let traps = 0;
  let runs = 0;
  fc.assert(
    fc.property(fc.array(access, { minLength: 1, maxLength: 5 }), (accesses) => {
      runs++;
      if (expectSound(accesses).trap) traps++;
    }),
    { numRuns: 400 },
  );
  // Both kinds of ends must have been seen.
  expect(traps).toBeGreaterThan(0);
  expect(runs - traps).toBeGreaterThan(0);
});

/** At address 0; as long as the number of an f64.const, with the instruction before it. */
const STORE_I32 = [0x41, 0, 0x41, 1, 0x36, 0, 0];

describe('a module is refused', () => {
  test.each([['with passive data', [{ opcode: MEMORY_INIT, address: 0, offset: 0, length: 0, source: 0 }]]])(
    '%s',
    (_, accesses) => {
      expect(() => markStores(memoryProgram(accesses))).toThrow(/Passive data/);
    },
  );

  const MEMORY = '(import "env" "memory" (memory 1))';
  test.each([
    ['that defines another memory', `${MEMORY} (memory 1)`, /must not define a memory/],
    ['that imports another memory', `${MEMORY} (import "env" "more" (memory 1))`, /exactly one memory/],
    ['with data for every instance', `${MEMORY} (data (i32.const 0) "a")`, /Active data/],
  ])('%s', (_, fields, reason) => {
    expect(() => markStores(wat(`(module ${fields})`))).toThrow(reason);
  });

  test.each([
    ['a load that names a memory, and hides a store', [0x41, 0, 0x2d, 0x40, 0, 0x44, 0x1a, ...STORE_I32]],
    ['a fill of the marks', [0x41, 0, 0x41, 0, 0x41, 9, 0xfc, 0x0b, 1]],
    ['a copy into the marks', [0x41, 0, 0x41, 0, 0x41, 9, 0xfc, 0x0a, 1, 0]],
    ['a copy from the marks', [0x41, 0, 0x41, 0, 0x41, 9, 0xfc, 0x0a, 0, 1]],
    ['growth of the marks', [0x41, 0, 0x40, 1, 0x1a]],
    ['their size', [0x3f, 1, 0x1a]],
  ])('with %s', (_, code) => {
    const head = wat(`(module ${MEMORY} (func))`).subarray(0, -5);
    const body = [0, ...code, 0x0b];
    const module = Uint8Array.from([...head, body.length + 2, 1, body.length, ...body]);
    expect(() => markStores(module)).toThrow(/More than one memory/);
  });

  test('without a memory of its own to mark', () => {
    const withoutMemory = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 2, 1, 0);
    expect(() => markStores(withoutMemory)).toThrow(/exactly one memory/);
  });
});
