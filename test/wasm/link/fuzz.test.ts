import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Definition } from '../../../guest/wasm/contract.ts';
import { LinkError } from '../../../guest/wasm/link/errors.ts';
import { prepareComponent, type PreparedComponent } from '../../../guest/wasm/link/linker.ts';
import { compile, GUEST_BASICS } from '../abi/support.ts';
import { apiOf, ECHO, execute, mainModule, skillDefinitions } from './support.ts';

type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

const SKILL = skillDefinitions({ api: apiOf('say', ['string'], 'u32'), main: '' });
const WITHIN: Definition[] = [
  { kind: 'component', component: { definitions: SKILL } },
  { kind: 'type', type: { kind: 'instance', declarations: apiOf('say', ['string'], 'u32').declarations } },
  { kind: 'import', name: 'test:host/api', desc: { kind: 'instance', type: 0 } },
  {
    kind: 'instance',
    expr: { instantiate: 0, args: [{ name: 'test:host/api', sort: 'instance', index: 0 }] },
  },
  { kind: 'alias', sort: 'func', target: { export: { instance: 1, name: 'execute' } } },
  { kind: 'export', name: 'execute', sort: 'func', index: 0 },
];
const modules = [
  `(module ${GUEST_BASICS})`,
  mainModule({
    imports: '(import "host" "say" (func $say (param i32 i32) (result i32)))',
    main: ECHO.replace('(i32.store8', '(drop (call $say (local.get 0) (local.get 1))) (i32.store8'),
  }),
].map((text) => ({ module: compile(text), facts: { fuelExport: 'fuel' } }));
const host = { 'test:host/api': { say: { call: () => 1 } } };

function prepare(definitions: Definition[]): PreparedComponent | LinkError {
  try {
    return prepareComponent({ component: { definitions }, modules, host });
  } catch (error) {
    if (error instanceof LinkError) return error;
    throw error;
  }
}

/** Every number, string and list in a plan, as something that can be replaced. */
function places(value: Json, found: ((next: (old: Json) => Json) => void)[] = []): typeof found {
  if (typeof value !== 'object' || value === null) return found;
  for (const [key, child] of Object.entries(value)) {
    const holder = value as { [key: string]: Json };
    found.push((next) => {
      holder[key] = next(holder[key] ?? null);
    });
    places(child, found);
  }
  return found;
}

const mutation = fc.record({
  place: fc.nat(),
  number: fc.oneof(fc.nat(6), fc.constantFrom(-1, 2 ** 31, 2 ** 32, 0.5)),
  text: fc.constantFrom(
    'execute',
    'memory',
    'cabi_realloc',
    'say',
    '__proto__',
    'constructor',
    'func',
    'u64',
    'string',
  ),
  list: fc.constantFrom('empty', 'twice', 'reversed', 'shorter'),
});

function mutate(
  definitions: Definition[],
  { place, number, text, list }: typeof mutation extends fc.Arbitrary<infer T> ? T : never,
): void {
  const all = places(definitions as unknown as Json);
  all[place % all.length]?.((old) => {
    if (typeof old === 'number') return number;
    if (typeof old === 'string') return text;
    if (!Array.isArray(old)) return old;
    if (list === 'empty') return [];
    if (list === 'twice') return [...old, ...structuredClone(old)];
    return list === 'reversed' ? [...old].reverse() : old.slice(0, -1);
  });
}

describe('plans that no honest installer writes', () => {
  it('work if they are unchanged', async () => {
    for (const definitions of [SKILL, WITHIN]) {
      const prepared = prepare(definitions);
      expect(prepared).not.toBeInstanceOf(LinkError);
      expect(await execute(prepared as PreparedComponent, 'x')).toEqual({ kind: 'ok', value: 'x' });
    }
  });

  it('are refused or give an outcome, and nothing else', async () => {
    const outcomes = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(SKILL, WITHIN),
        fc.array(mutation, { minLength: 1, maxLength: 4 }),
        async (original, mutations) => {
          const definitions = structuredClone(original);
          for (const one of mutations) mutate(definitions, one);
          const prepared = prepare(definitions);
          const usable = !(prepared instanceof LinkError) && prepared.canExecute;
          const kind = usable ? (await execute(prepared, 'x')).kind : 'refused';
          outcomes.set(kind, (outcomes.get(kind) ?? 0) + 1);
        },
      ),
      { numRuns: 3000 },
    );
    expect(outcomes.get('refused')).toBeGreaterThan(100);
    expect(outcomes.get('ok')).toBeGreaterThan(100);
  });
});
