/**
 * A reset restores only what was marked, and yet every byte is what it was: after each call, the whole memory is compared
 * with the image.
 *
 * @module
 */
import * as fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Engine } from '../../../../guest/wasm/python/cell/engine-files.ts';
import type { PythonCell } from '../../../../guest/wasm/python/cell/python-cell.ts';
import { GuestMemory } from '../../../../guest/wasm/imaged/guest-memory.ts';
import { Cards } from '../../../../guest/wasm/imaged/cards.ts';
import { layImage } from '../../../../guest/wasm/imaged/memory.ts';
import { writeSkill } from '../../../write-skill.ts';
import { openTestRuntime } from '../../test-runtime.ts';
import { callCell, openCell, readInstalled } from './installed.ts';

const { runtime, folder, close } = openTestRuntime();
afterAll(close);

let engine: Engine;
beforeAll(async () => {
  const skill = await runtime.load(writeSkill(folder, { source: 'def execute(params): return 1' }));
  await runtime.warm(skill, { execution: 'wasm' });
  engine = readInstalled(runtime.home);
});

let resets: number;

beforeEach(() => {
  resets = 0;
  // oxlint-disable-next-line typescript/unbound-method -- called with `this` below
  const restore = Cards.prototype.restore;
  vi.spyOn(Cards.prototype, 'restore').mockImplementation(function (this: Cards, memory, image) {
    restore.call(this, memory, image);
    const expected = new Uint8Array(memory.length);
    layImage(expected, image);
    const [one, two] = [Buffer.from(memory.buffer, 0, memory.length), Buffer.from(expected.buffer)];
    if (!one.equals(two)) expect.fail(`The memory differs from the image at ${firstDifference(one, two)}`);
    resets++;
  });
});
afterEach(() => void vi.restoreAllMocks());

function firstDifference(one: Buffer, two: Buffer): string {
  const at = one.findIndex((byte, index) => byte !== two[index]);
  return `byte ${at} of card ${at >> 12}`;
}

const RUNNER =
  'def execute(params):\n    names = {}\n    exec(params["code"], names)\n    return names.get("r")\n';

function runner(pages?: number): PythonCell {
  return openCell({ engine, source: RUNNER, ...(pages !== undefined && { pages }) });
}

const PROGRAMS: Record<string, string> = {
  nothing: 'r = 1',
  objects: 'r = len([object() for _ in range(50000)])',
  'large numbers': 'r = len(str(3 ** 40000))',
  floats: 'import math\nr = sum(math.sin(n) for n in range(20000)) < 9',
  texts: 'r = len("".join(chr(n) for n in range(0x20, 0xd000)).upper())',
  bytes: 'b = bytearray(300000)\nb[4095:4098] = b"abc"\nr = bytes(b[::-1]).find(b"cba")',
  dictionaries: 'd = {n: str(n) for n in range(30000)}\nr = len(d)',
  'a sort': 'import random\nrandom.seed(3)\nr = sorted(random.random() for _ in range(20000))[0] >= 0',
  compression: 'import zlib\nr = len(zlib.decompress(zlib.compress(bytes(range(256)) * 2000, 9)))',
  hashes: 'import hashlib\nr = hashlib.sha256(b"a" * 1000000).hexdigest()',
  'regular expressions': 'import re\nr = len(re.findall(r"(a+)b", "aaab" * 5000))',
  json: 'import json\nr = len(json.dumps(json.loads("[" + ",".join("1.5" for _ in range(9000)) + "]")))',
  recursion:
    'def f(n): return 0 if n == 0 else 1 + f(n - 1)\ntry: r = f(100000)\nexcept RecursionError: r = "deep"',
  exceptions: 'r = 0\nfor n in range(3000):\n  try: raise ValueError(n)\n  except ValueError: r += 1',
  generators: 'def g():\n  yield from range(9999)\nr = sum(g())',
  files: 'open("/tmp/x", "wb").write(bytes(500000))\nr = len(open("/tmp/x", "rb").read())',
  folders: 'import os\nos.makedirs("/tmp/a/b")\nr = sorted(os.listdir("/tmp")) and os.stat("/tmp/a").st_mode',
  clocks: 'import time\nr = time.localtime(86400)[:3] + time.gmtime()[:1] and time.mktime(time.gmtime(5))',
  'random bytes': 'import os\nr = len(os.urandom(70000))',
  polling: 'import select, os\np = select.poll()\np.register(1)\nr = len(p.poll(0))',
  'an SQL-like join':
    'import itertools\nr = sum(1 for a, b in itertools.product(range(300), repeat=2) if a == b)',
  classes: 'r = len([type(f"C{n}", (), {"x": n}) for n in range(500)])',
  modules: 'import decimal, datetime, collections, statistics\nr = str(decimal.Decimal(2).sqrt())',
  garbage: 'import gc\na = []\na.append(a)\ndel a\nr = gc.collect() >= 0',
  'too much memory': 'try:\n  b = [bytes(1 << 20) for _ in range(4000)]\nexcept MemoryError: r = "full"',
};

describe('after a call, the whole memory is that of the image', () => {
  test.each(Object.entries(PROGRAMS))('%s', (_, code) => {
    const cell = runner(1024);
    const before = resets;
    const first = callCell(cell, { code });
    expect(callCell(cell, { code })).toEqual(first);
    expect(callCell(cell, { code: 'r = 1' })).toBe(1);
    expect(resets).toBeGreaterThanOrEqual(before + 3);
  });

  test('for random programs, one after the other in one cell', () => {
    const cell = runner();
    const line = fc.oneof(
      fc
        .tuple(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 70000 }))
        .map(([v, n]) => `v${v} = bytearray(${n})`),
      fc.tuple(fc.integer({ min: 0, max: 9 }), fc.nat(5000)).map(([v, n]) => `v${v} = list(range(${n})) * 3`),
      fc
        .tuple(fc.integer({ min: 0, max: 9 }), fc.nat(9))
        .map(([v, w]) => `v${v} = [v${w}, repr(v${w})[:99]] if "v${w}" in globals() else None`),
      fc
        .tuple(fc.integer({ min: 0, max: 9 }), fc.nat(20000))
        .map(([v, n]) => `v${v} = "é" * ${n} + str(${n} ** 50)`),
      fc.integer({ min: 0, max: 9 }).map((v) => `globals().pop("v${v}", None)`),
      fc.nat(300).map((n) => `v0 = {k: [k] for k in range(${n})}`),
      fc.nat(4000).map((n) => `import zlib; v1 = zlib.compress(b"ab" * ${n})`),
      fc.nat(60000).map((n) => `v2 = memoryview(bytearray(${n} + 1)); v2[${n}] = 7`),
    );
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 15 }), (lines) => {
        expect(callCell(cell, { code: [...lines, 'r = 1'].join('\n') })).toBe(1);
      }),
      { numRuns: 150 },
    );
    expect(resets).toBeGreaterThan(150);
  });

  test('if the memory grew in the call', () => {
    const cell = runner(1024);
    const code = 'b = [bytearray(1 << 20) for _ in range(6)]\nfor one in b: one[-1] = 1\nr = len(b)';
    for (let round = 0; round < 3; round++) expect(callCell(cell, { code })).toBe(6);
  });
});

describe('marks', () => {
  const BYTES = 4 * 65_536;

  test('restore what was marked, and only that', () => {
    const write = fc.record({
      at: fc.nat(BYTES - 1),
      bytes: fc.uint8Array({ minLength: 1, maxLength: 9000 }),
    });
    fc.assert(
      fc.property(fc.array(write, { maxLength: 8 }), fc.nat(BYTES), (writes, imageBytes) => {
        const cards = new Cards({ maxPages: 4, isComplete: true });
        const image = new Uint8Array(imageBytes).fill(5);
        const memory = new Uint8Array(BYTES);
        const expected = new Uint8Array(BYTES);
        layImage(expected, image);
        cards.restore(memory, image);
        for (const { at, bytes } of writes) {
          const some = bytes.subarray(0, BYTES - at);
          cards.mark(at, some.length);
          memory.set(some, at);
        }
        cards.restore(memory, image);
        expect(Buffer.compare(memory, expected)).toBe(0);
      }),
    );
  });

  test.each<[string, (memory: GuestMemory) => void]>([
    ['setU32', (memory) => memory.setU32(4094, 0xffff_ffff)],
    ['setU64', (memory) => memory.setU64(8185, 0xffff_ffff_ffff_ffffn)],
    ['setI16', (memory) => memory.setI16(4095, -1)],
    ['setI32', (memory) => memory.setI32(12_287, -1)],
    ['setText', (memory) => void memory.setText(4093, 'a longer text')],
    ['slice', (memory) => void memory.slice(4000, 9000).fill(1)],
  ])('are set by %s of the import layer, for every byte that it writes', (_, write) => {
    const guest = new WebAssembly.Memory({ initial: 4, maximum: 4 });
    const memory = new GuestMemory(guest, new Cards({ maxPages: 4, isComplete: true }));
    const image = new Uint8Array(BYTES).fill(5);
    memory.restore(image);
    write(memory);
    const bytes = new Uint8Array(guest.buffer);
    expect(Buffer.compare(bytes, image)).not.toBe(0);
    memory.restore(image);
    expect(Buffer.compare(bytes, image)).toBe(0);
  });

  test('are not trusted for ever: what nothing marked is gone after at most 256 calls', () => {
    const cards = new Cards({ maxPages: 4, isComplete: true });
    const [memory, image] = [new Uint8Array(BYTES), new Uint8Array(BYTES)];
    cards.restore(memory, image);
    memory[5000] = 1;
    let calls = 0;
    do {
      vi.restoreAllMocks();
      cards.restore(memory, image);
      calls++;
    } while (memory[5000] !== 0 && calls < 1000);
    expect(calls).toBeGreaterThan(1);
    expect(calls).toBeLessThanOrEqual(256);
  });

  test('do not pass for restored in a memory that no longer exists, because it grew', () => {
    vi.restoreAllMocks();
    const cards = new Cards({ maxPages: 4, isComplete: true });
    const guest = new WebAssembly.Memory({ initial: 3, maximum: 4 });
    const [before, image] = [new Uint8Array(guest.buffer), new Uint8Array(BYTES / 2)];
    cards.restore(before, image);
    guest.grow(1);
    const bytes = new Uint8Array(guest.buffer);
    cards.mark(5000, 1);
    bytes[5000] = 1;
    expect(() => cards.restore(before, image)).toThrow(RangeError);
    cards.restore(bytes, image);
    expect(bytes[5000]).toBe(0);
  });

  test('are not used after a copy of another image was interrupted', () => {
    vi.restoreAllMocks();
    class Torn extends Uint8Array {
      override fill(): never {
        throw new Error('interrupted');
      }
    }
    const cards = new Cards({ maxPages: 4, isComplete: true });
    const bytes = new ArrayBuffer(BYTES);
    const image = new Uint8Array(BYTES).fill(5);
    cards.restore(new Uint8Array(bytes), image);
    expect(() => cards.restore(new Torn(bytes), new Uint8Array(9000).fill(6))).toThrow('interrupted');
    cards.restore(new Uint8Array(bytes), image);
    expect(Buffer.compare(new Uint8Array(bytes), image)).toBe(0);
  });

  test.each([
    ['another image was restored', { maxPages: 4, isComplete: true }, true],
    ['not everything is marked', { maxPages: 4, isComplete: false }, false],
    ['the memory may have 4 GiB', { maxPages: 65_536, isComplete: true }, false],
  ])('are not used if %s', (_, options, changesImage) => {
    vi.restoreAllMocks();
    const cards = new Cards(options);
    const [memory, image] = [new Uint8Array(BYTES), new Uint8Array(BYTES)];
    cards.restore(memory, image);
    memory[5000] = 1;
    cards.restore(memory, changesImage ? new Uint8Array(BYTES) : image);
    expect(memory[5000]).toBe(0);
  });
});
