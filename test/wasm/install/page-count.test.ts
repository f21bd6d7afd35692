import { array, assert, integer, property } from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ModuleFacts } from '../../../guest/wasm/contract.ts';
import { rewriteAll } from '../../../guest/wasm/install/plan.ts';
import { rewriteModule } from '../../../guest/wasm/install/rewrite.ts';
import { parseModule, wat } from '../binary/support.ts';

const MAX_PAGES = 24;

/** `run` grows and adds the reported result to the size that it then sees, so that neither can be wrong alone. */
const SIZER = `(module (memory (export "memory") 2)
  (func (export "run") (param i32) (result i32)
    (i32.add (i32.mul (memory.grow (local.get 0)) (i32.const 1000)) (memory.size))))`;

interface Sizer {
  grow: (pages: number) => number;
  memory: WebAssembly.Memory;
  facts: ModuleFacts;
  global: (name: string | undefined) => unknown;
}

function sizer(countsPages: boolean): Sizer {
  const options = { maxPages: MAX_PAGES, takenNames: new Set<string>(), inventory: true, countsPages };
  const { bytes, facts } = rewriteModule(parseModule(wat(SIZER)), options);
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes.slice()));
  (exports[facts.fuelExport] as WebAssembly.Global).value = 1n << 60n;
  return {
    grow: exports['run'] as Sizer['grow'],
    memory: exports['memory'] as WebAssembly.Memory,
    facts,
    global: (name = '') => (exports[name] as WebAssembly.Global).value,
  };
}

describe('a module that counts its pages', () => {
  test('sees the same sizes as one whose memory has only what it requested', () => {
    const wishes = array(integer({ min: -3, max: 12 }), { maxLength: 8 });
    assert(
      property(wishes, integer({ min: 0, max: MAX_PAGES - 2 }), (asked, room) => {
        const [counting, other] = [sizer(true), sizer(false)];
        counting.memory.grow(room);
        for (const pages of asked) {
          expect(counting.grow(pages)).toBe(other.grow(pages));
          expect(counting.global(counting.facts.growthExport)).toBe(other.global(other.facts.growthExport));
        }
        expect(Number(counting.global(counting.facts.pagesExport)) * 65_536).toBe(
          other.memory.buffer.byteLength,
        );
      }),
      { numRuns: 200 },
    );
  });

  test('grows its memory only when the extra pages are used up', () => {
    const { grow, memory } = sizer(true);
    memory.grow(4);
    const { buffer } = memory;
    expect([grow(1), grow(3)]).toEqual([2003, 3006]);
    expect(memory.buffer).toBe(buffer);
    expect(grow(1)).toBe(6007);
    expect(memory.buffer.byteLength).toBe(7 * 65_536);
  });

  test('has the count in its inventory', () => {
    const { facts } = sizer(true);
    expect(facts.state?.globals).toEqual([facts.growthExport, facts.pagesExport]);
  });
});

describe('among the modules of one file', () => {
  const OWNER = '(module (memory (export "memory") 1))';
  const counting = (guest: string): boolean[] => {
    const modules = [guest, OWNER].map((text) => parseModule(wat(text)));
    const options = { maxPages: MAX_PAGES, linkNames: new Set<string>(), inventory: true };
    return rewriteAll(modules, options).map(({ facts }) => facts.pagesExport !== undefined);
  };
  const IMPORT = '(import "owner" "memory" (memory 1))';

  test('the one that owns the memory counts', () => {
    expect(counting(`(module ${IMPORT} (func (drop (i32.load (i32.const 0)))))`)).toEqual([false, true]);
  });

  test.each(['(memory.size)', '(memory.grow (i32.const 1))'])(
    'none counts if another one uses %s',
    (asks) => {
      expect(counting(`(module ${IMPORT} (func (drop ${asks})))`)).toEqual([false, false]);
    },
  );
});
