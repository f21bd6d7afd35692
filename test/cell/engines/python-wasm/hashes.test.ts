/**
 * `hashlib` gives what it always gives, whether the host or the engine computes it.
 *
 * @module
 */
import { createHash, createHmac, randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { Cards } from '../../../../guest/wasm/imaged/cards.ts';
import { GuestMemory } from '../../../../guest/wasm/imaged/guest-memory.ts';
import { layImage } from '../../../../guest/wasm/imaged/memory.ts';
import type { Engine } from '../../../../guest/wasm/python/cell/engine-files.ts';
import type { PythonCell } from '../../../../guest/wasm/python/cell/python-cell.ts';
import { MAX_BYTES, MIN_BYTES } from '../../../../guest/wasm/python/engine/hash-table.ts';
import { writeSkill } from '../../../write-skill.ts';
import { openTestRuntime } from '../../test-runtime.ts';
import { callCell, openCell, readInstalled } from './installed.ts';

const ALGORITHMS = ['sha256', 'sha224', 'sha1', 'sha512', 'sha384', 'md5'] as const;
const { runtime, folder, close } = openTestRuntime();
afterAll(close);
afterEach(() => void vi.restoreAllMocks());

let engine: Engine;
let cell: PythonCell;

beforeAll(async () => {
  const skill = await runtime.load(writeSkill(folder, { source: 'def execute(params): return 1' }));
  await runtime.warm(skill, { execution: 'wasm' });
  engine = readInstalled(runtime.home);
  cell = openCell({ engine, source: RUNNER });
  run(HASH_MUCH);
});

const RUNNER = `
def execute(params):
    names = {}
    exec(params["code"], names)
    return names.get("r")
`;

/** After this, the host computes the hashes of a cell. */
const HASH_MUCH = 'import hashlib\nfor _ in range(70): hashlib.sha256(bytes(65536)).digest()';

function run(code: string, where: PythonCell = cell): unknown {
  return callCell(where, { code });
}

/** Byte `at` of the data is a function of the seed and `at`, in both languages. */
function dataOf(seed: number, length: number): Buffer {
  return Buffer.from(Uint8Array.from({ length }, (_, at) => (seed + at * 31 + (at >> 8)) & 0xff));
}

/** What is done to a list of hash objects; `of` selects one. */
type Step =
  | { do: 'new'; algorithm: string; seed: number; length: number | null }
  | { do: 'update'; of: number; seed: number; length: number; as: string }
  | { do: 'digest' | 'hexdigest' | 'copy' | 'drop'; of: number };

/** Runs in Wasm and natively. */
const STEPS = `
import hashlib

def data(seed, length):
    return bytes((seed + at * 31 + (at >> 8)) & 0xFF for at in range(length))

AS = {"bytes": bytes, "bytearray": bytearray, "memoryview": memoryview}

def run(steps):
    hashes, results = [], []
    for step in steps:
        if step["do"] == "new":
            some = () if step["length"] is None else (data(step["seed"], step["length"]),)
            hashes.append(getattr(hashlib, step["algorithm"])(*some))
        elif hashes:
            one = hashes[step["of"] % len(hashes)]
            if step["do"] == "update":
                given = AS[step["as"]](data(step["seed"], step["length"]))
                one.update(given)
                if step["as"] == "bytearray":
                    given[:] = bytes(len(given))
            elif step["do"] == "digest":
                results.append(one.digest().hex())
            elif step["do"] == "hexdigest":
                results.append(one.hexdigest())
            elif step["do"] == "copy":
                hashes.append(one.copy())
            else:
                hashes.remove(one)
    return results + [one.hexdigest() for one in hashes]

def execute(params):
    # The host computes hashes only for calls that hash much.
    for _ in range(params.get("before", 0)):
        hashlib.sha1(bytes(65536)).digest()
    return [run(steps) for steps in params["programs"]]
`;

/** The same steps, with Node's OpenSSL. */
function expected(steps: readonly Step[]): string[] {
  const hashes: { algorithm: string; fed: Buffer[] }[] = [];
  const results: string[] = [];
  const hex = ({ algorithm, fed }: (typeof hashes)[number]): string =>
    createHash(algorithm).update(Buffer.concat(fed)).digest('hex');
  for (const step of steps) {
    if (step.do === 'new') {
      const fed = step.length === null ? [] : [dataOf(step.seed, step.length)];
      hashes.push({ algorithm: step.algorithm, fed });
      continue;
    }
    const one = hashes[step.of % hashes.length];
    if (!one) continue;
    if (step.do === 'update') one.fed.push(dataOf(step.seed, step.length));
    else if (step.do === 'copy') hashes.push({ ...one, fed: [...one.fed] });
    else if (step.do === 'drop') hashes.splice(hashes.indexOf(one), 1);
    else results.push(hex(one));
  }
  return [...results, ...hashes.map(hex)];
}

const near = (base: number): fc.Arbitrary<number> =>
  fc.integer({ min: -2, max: 2 }).map((by) => Math.max(0, base + by));
const length = fc.oneof(
  { weight: 4, arbitrary: fc.nat(700) },
  { weight: 3, arbitrary: near(MIN_BYTES) },
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 8 }).chain((blocks) => near(blocks * 64)) },
  { weight: 1, arbitrary: near(MAX_BYTES) },
);
const common = { of: fc.nat(20), seed: fc.nat(255), length };
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constant('new' as const),
    algorithm: fc.constantFrom(...ALGORITHMS),
    seed: fc.nat(255),
    length: fc.option(length),
  }),
  fc.record({
    do: fc.constant('update' as const),
    ...common,
    as: fc.constantFrom('bytes', 'bytearray', 'memoryview'),
  }),
  fc.record({
    do: fc.constantFrom('digest' as const, 'hexdigest' as const, 'copy' as const, 'drop' as const),
    of: fc.nat(20),
  }),
);
const steps = fc.array(step, { minLength: 1, maxLength: 25, size: 'max' });

describe('random steps', () => {
  test('give what Node gives, and afterwards the memory is the image', () => {
    const stepper = openCell({ engine, source: STEPS });
    callCell(stepper, { programs: [], before: 70 });
    let resets = 0;
    const hashed = vi.spyOn(GuestMemory.prototype, 'setDigest');
    // oxlint-disable-next-line typescript/unbound-method -- called with `this` below
    const restore = Cards.prototype.restore;
    vi.spyOn(Cards.prototype, 'restore').mockImplementation(function (this: Cards, memory, image) {
      restore.call(this, memory, image);
      const whole = new Uint8Array(memory.length);
      layImage(whole, image);
      expect(Buffer.compare(memory, whole)).toBe(0);
      resets++;
    });
    fc.assert(
      fc.property(steps, (program) => {
        expect(callCell(stepper, { programs: [program] })).toEqual([expected(program)]);
      }),
      { numRuns: 150 },
    );
    expect(resets).toBeGreaterThanOrEqual(150);
    expect(hashed.mock.calls.length).toBeGreaterThan(10);
  });

  test('give what native Python gives', async () => {
    const skill = await runtime.load(writeSkill(folder, { source: STEPS }));
    const params = { programs: fc.sample(steps, 60), before: 70 };
    const [native, wasm] = [
      await runtime.execute(skill, params, { execution: 'subprocess' }),
      await runtime.execute(skill, params, { execution: 'wasm' }),
    ];
    expect(wasm.result).toEqual(native.result);
  });
});

describe('a hash object', () => {
  test.each(ALGORITHMS)('of %s has the attributes and errors of CPython', (name) => {
    const of = (code: string): unknown =>
      run(`import hashlib, pickle\nh = hashlib.${name}(b"x" * 1000)\n${code}`);
    const { digest, blockSize } = {
      digest: createHash(name).digest(),
      blockSize: /384|512/.test(name) ? 128 : 64,
    };
    expect(of('r = [h.name, h.digest_size, h.block_size, len(h.digest())]')).toEqual([
      name,
      digest.length,
      blockSize,
      digest.length,
    ]);
    const error = (act: string): unknown =>
      of(`try:\n  ${act}\n  r = "no error"\nexcept Exception as e: r = type(e).__name__ + ": " + str(e)`);
    expect(error('h.update("text")')).toBe('TypeError: Strings must be encoded before hashing');
    expect(error('h.update(5)')).toBe('TypeError: object supporting the buffer API required');
    expect(error(`hashlib.${name}("text")`)).toBe('TypeError: Strings must be encoded before hashing');
    expect(error('pickle.dumps(h)')).toContain('TypeError: cannot pickle');
    expect(error('h.copy(1)')).toContain('TypeError');
    expect(error(`hashlib.${name}(b"x" * 500, usedforsecurity=False)`)).toBe('no error');
    expect(error(`hashlib.${name}(data=b"x" * 500)`)).toBe('no error');
    expect(of('h.update(b""); r = h.hexdigest() == hashlib.new(h.name, b"x" * 1000).hexdigest()')).toBe(true);
    expect(of('r = h.hexdigest() == h.hexdigest() == h.copy().hexdigest()')).toBe(true);
  });

  test('keeps its own copy of the data', () => {
    const code =
      'import hashlib\nb = bytearray(b"x" * 1000)\nh = hashlib.sha256(b)\nb[:] = b"y" * 1000\nr = h.hexdigest()';
    expect(run(code)).toBe(createHash('sha256').update('x'.repeat(1000)).digest('hex'));
  });

  test.each([0, 100, 5000, 300_000])('gives HMACs and digests of files of %i bytes', (bytes) => {
    const code = `
import hashlib, hmac
d = bytes(range(256)) * 1200
d = d[:${bytes}]
open("/tmp/f", "wb").write(d)
r = [hmac.new(b"k" * 300, d, "sha256").hexdigest(), hmac.digest(b"k", d, hashlib.sha1).hex(),
     hashlib.file_digest(open("/tmp/f", "rb"), "sha256").hexdigest()]`;
    const data = Buffer.from(Array.from({ length: bytes }, (_, at) => at & 0xff));
    expect(run(code)).toEqual([
      createHmac('sha256', 'k'.repeat(300)).update(data).digest('hex'),
      createHmac('sha1', 'k').update(data).digest('hex'),
      createHash('sha256').update(data).digest('hex'),
    ]);
  });

  test('of the module body is usable in every call, and in other processes', () => {
    const data = randomBytes(3000).toString('hex');
    const source = `
import hashlib
FIRST = bytes.fromhex("${data}")
H = [hashlib.sha256(FIRST), hashlib.sha224(FIRST), hashlib.sha1(FIRST)]
def execute(params):
    for _ in range(params.get("before", 0)):
        hashlib.sha256(bytes(65536)).digest()
    H[0].update(b"more")
    return [H[0].hexdigest(), H[1].hexdigest(), H[1].copy().hexdigest(), H[2].hexdigest()]
`;
    const first = Buffer.from(data, 'hex');
    const hex = (name: string, more = ''): string =>
      createHash(name).update(first).update(more).digest('hex');
    const wanted = [hex('sha256', 'more'), hex('sha224'), hex('sha224'), hex('sha1')];
    const made = openCell({ engine, source });
    const saved = made.save();
    expect(saved).toBeDefined();
    const other = openCell({ engine: readInstalled(runtime.home), source, saved });
    for (const one of [made, other]) {
      expect(callCell(one)).toEqual(wanted);
      callCell(one, { before: 70 });
      expect(callCell(one)).toEqual(wanted);
    }
  });

  test('counts the data that it keeps as memory of the call', () => {
    const small = openCell({ engine, source: RUNNER, pages: 600 });
    const code = (bytes: number): string => `
import hashlib
d = bytes(${bytes})
kept = [hashlib.sha256(d) for _ in range(400)]
try: r = len(bytearray(10 << 20))
except MemoryError: r = "full"`;
    expect(run(code(60_000), small)).toBe('full');
    expect(run(code(MIN_BYTES - 1), small)).toBe(10 << 20);
  });

  test('is right when no memory is left to keep its data', () => {
    const small = openCell({ engine, source: RUNNER, pages: 400 });
    run(HASH_MUCH, small);
    const code = `
import hashlib
d = bytes(60000)
kept, size = [], 1 << 20
while size > 64:
    try: kept.append(bytearray(size))
    except MemoryError: size //= 2
results = set()
kept.pop()
for _ in range(20):
    h = hashlib.sha256(d)
    results.add(h.hexdigest())
    h.update(d)
    results.add(h.hexdigest())
del kept
r = sorted(results)`;
    const hashed = vi.spyOn(GuestMemory.prototype, 'setDigest');
    const once = Buffer.alloc(60_000);
    const hex = (data: Buffer): string => createHash('sha256').update(data).digest('hex');
    expect(run(code, small)).toEqual([hex(once), hex(Buffer.concat([once, once]))].toSorted());
    expect(hashed).not.toHaveBeenCalled();
  });

  test('keeps a little memory until it is gone', () => {
    const code = `
import hashlib
d = bytes(${MAX_BYTES})
for _ in range(3000):
    h = hashlib.sha256(d)
    h.copy()
    hashlib.sha1(d).digest()
r = "done"`;
    expect(run(code, openCell({ engine, source: RUNNER, pages: 400 }))).toBe('done');
  });
});

describe('the host', () => {
  const watch = (): (() => number) => {
    const { mock } = vi.spyOn(GuestMemory.prototype, 'setDigest');
    return () => mock.calls.length;
  };
  const some = (count: number): string =>
    `import hashlib\nfor _ in range(${count}): hashlib.sha256(bytes(65536)).digest()`;

  test('computes hashes of a call that hashes much, and then those of later calls', () => {
    const hashed = watch();
    const other = openCell({ engine, source: RUNNER });
    run(some(70), other);
    const first = hashed();
    expect(first).toBeGreaterThan(0);
    expect(first).toBeLessThan(70);
    run(some(1), other);
    expect(hashed()).toBe(first + 1);
  });

  test('does not add up what several calls hash', () => {
    const hashed = watch();
    const other = openCell({ engine, source: RUNNER });
    for (let call = 0; call < 5; call++) run(some(40), other);
    expect(hashed()).toBe(0);
  });
});

test.each(['hashlib.sha256(d).digest()', 'h.update(d)'])('the CPU limit ends a loop of %s', async (act) => {
  const source = `
import hashlib
def execute(params):
    d = bytes(${MAX_BYTES})
    h = hashlib.sha256()
    while True:
        ${act}
`;
  const manifest = { execution: ['wasm'], limits: { cpu: '1s', timeout: '60s' } };
  const outcome = await runtime.execute(writeSkill(folder, { source, manifest }), {}, { reject: false });
  expect(outcome).toMatchObject({
    ok: false,
    error: { code: 'resource_exceeded', detail: { limit: 'cpu' } },
  });
});
