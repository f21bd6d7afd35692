/**
 * Cells leave the base image in its file and read again what a call changed; all that they restore is what the file contains.
 *
 * @module
 */
import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { Cards } from '../../../../guest/wasm/imaged/cards.ts';
import { layImage, readPart } from '../../../../guest/wasm/imaged/memory.ts';
import { ChangedPages, FileBytes } from '../../../../guest/wasm/imaged/stored.ts';
import { decodeImage } from '../../../../guest/wasm/python/cell/saved-image.ts';
import { writeSkill } from '../../../write-skill.ts';
import { openTestRuntime } from '../../test-runtime.ts';
import { callCell, openCell, openInstalled, readInstalled } from './installed.ts';

const { runtime, folder, close } = openTestRuntime();
afterAll(close);
afterEach(() => void vi.restoreAllMocks());

const PAGE = 4096;
const PAGES = 6;

/** An image, and one that differs from it and may be larger or smaller. */
const twoImages = fc
  .record({
    base: fc.array(fc.nat(255), { minLength: PAGES, maxLength: PAGES }),
    changes: fc.array(fc.record({ page: fc.nat(PAGES + 2), at: fc.nat(PAGE - 1), byte: fc.nat(255) }), {
      maxLength: 5,
    }),
    pages: fc.integer({ min: 1, max: PAGES + 3 }),
  })
  .map(({ base, changes, pages }) => {
    const before = Uint8Array.from(
      { length: PAGES * PAGE },
      (_, at) => (base[Math.floor(at / PAGE)] ?? 0) ^ at,
    );
    const after = new Uint8Array(pages * PAGE);
    after.set(before.subarray(0, after.length));
    for (const { page, at, byte } of changes) if (page < pages) after[page * PAGE + at] = byte;
    return { before, after };
  });

describe('stored images', () => {
  test('contain what was stored, in whatever pieces it is read, and however often', () => {
    const piece = fc.record({
      at: fc.nat((PAGES + 3) * PAGE),
      bytes: fc.nat(3 * PAGE),
      isPage: fc.boolean(),
    });
    fc.assert(
      fc.property(twoImages, fc.array(piece, { maxLength: 9 }), ({ before, after }, pieces) => {
        const file = join(folder, 'some.bin');
        writeFileSync(file, before);
        for (const base of [before, new FileBytes(file)]) {
          const stored = ChangedPages.between(base, after.slice());
          expect(stored.length).toBe(after.length);
          for (const { at, bytes, isPage } of pieces) {
            const start = Math.min(isPage ? at - (at % PAGE) : at, after.length);
            const into = new Uint8Array(Math.min(isPage ? PAGE : bytes, after.length - start)).fill(0xee);
            readPart(stored, into, start);
            expect(Buffer.compare(into, after.subarray(start, start + into.length))).toBe(0);
          }
        }
      }),
      { numRuns: 60 },
    );
  });

  test('keep only the pages that differ', () => {
    const before = new Uint8Array(PAGES * PAGE).fill(1);
    const after = before.slice();
    after[2 * PAGE + 7] = 9;
    expect([...ChangedPages.between(before, after).pages.keys()]).toEqual([2 * PAGE]);
  });

  test('are not used when their file has become shorter', () => {
    const file = join(folder, 'short.bin');
    writeFileSync(file, new Uint8Array(2 * PAGE));
    const stored = new FileBytes(file);
    truncateSync(file, PAGE);
    expect(() => stored.read(new Uint8Array(PAGE), PAGE)).toThrow('shorter than it was');
  });
});

describe('a cell with its base image in a file', () => {
  beforeAll(async () => {
    const skill = await runtime.load(writeSkill(folder, { source: 'def execute(params): return 1' }));
    await runtime.warm(skill, { execution: 'wasm' });
  });

  const SOURCE = `
    import difflib
    SEEN = []
    def execute(params):
        names = {"SEEN": SEEN}
        exec(params["code"], names)
        return names.get("r")
  `.replaceAll(/^ {4}/gm, '');
  const CODES = [
    'r = 1',
    'SEEN.append(1)\nr = len(SEEN)',
    'r = len({n: str(n) for n in range(30000)})',
    'import json, sys\njson.loads = len\nsys.path.append("x")\nr = 1',
    'import xml.etree.ElementTree as e\nr = e.fromstring("<a/>").tag',
    'b = bytearray(3 << 20)\nb[-1] = 1\nr = 2',
  ];

  test.each([
    ['and the module body run', false],
    ['and a saved image', true],
  ])('%s has the same whole memory after every call', (_, isSaved) => {
    const engine = readInstalled(runtime.home);
    const saved = openCell({ engine, source: SOURCE }).save();
    const options = { base: engine.image, baseDigest: engine.facts.digest, maxBytes: 2048 * 65_536 };
    const decoded = decodeImage(saved ?? Buffer.alloc(0), options);
    const states: Buffer[] = [];
    // oxlint-disable-next-line typescript/unbound-method -- called with `this` below
    const restore = Cards.prototype.restore;
    const opened = openInstalled(runtime.home);
    vi.spyOn(Cards.prototype, 'restore').mockImplementation(function (this: Cards, memory, image) {
      restore.call(this, memory, image);
      states.push(Buffer.from(memory));
    });
    const cell = openCell({ engine: opened, source: SOURCE, ...(isSaved && { saved }) });
    const made = states.length;
    for (let round = 0; round < 2; round++)
      for (const code of CODES) expect(callCell(cell, { code })).toBe(callCell(cell, { code }));
    expect(states).toHaveLength(made + 4 * CODES.length);
    const first = states[made - 1] ?? Buffer.alloc(0);
    for (const state of states.slice(made)) {
      const common = Math.min(state.length, first.length);
      expect(state.compare(first, 0, common, 0, common)).toBe(0);
      expect(state.subarray(common).every((byte) => byte === 0)).toBe(true);
    }
    if (!isSaved) return;
    const expected = new Uint8Array(first.length);
    layImage(expected, decoded?.image.memory ?? expect.fail('nothing was saved'));
    expect(first.compare(expected)).toBe(0);
  });
});
