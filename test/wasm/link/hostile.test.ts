import { describe, expect, it } from 'vitest';
import { prepareComponent } from '../../../guest/wasm/link/linker.ts';
import { compile, GUEST_BASICS } from '../abi/support.ts';
import {
  apiOf,
  ECHO,
  execute,
  LIMITS,
  mainModule,
  prepare,
  prepareSkill,
  skillDefinitions,
} from './support.ts';

/** Echoes on request, and otherwise does `body`. */
function misbehaving(body: string): string {
  return `
    (func $misbehave (param i32 i32) (result i32) ${body})
    (func (export "execute") (param i32 i32) (result i32)
      (if (i32.ne (i32.load8_u (local.get 0)) (i32.const ${'e'.charCodeAt(0)}))
        (then (return (call $misbehave (local.get 0) (local.get 1)))))
      (i32.store8 (i32.const 64) (i32.const 0))
      (i32.store (i32.const 68) (local.get 0))
      (i32.store (i32.const 72) (local.get 1))
      (i32.const 64))
    (func $forever (call $forever))`;
}

const answer = (address: number, length: number, tag = 0): string => `
  (i32.store8 (i32.const 64) (i32.const ${tag}))
  (i32.store (i32.const 68) (i32.const ${address}))
  (i32.store (i32.const 72) (i32.const ${length}))
  (i32.const 64)`;

const trap = (part: string): object => ({ kind: 'trap', message: expect.stringContaining(part) as string });

describe('a misbehaving guest is stopped, and the next call works, if it', () => {
  it.each<[string, string, object]>([
    ['traps', '(unreachable)', trap('unreachable')],
    ['recurses endlessly', '(call $forever) (unreachable)', trap('Call stack exhausted')],
    ['returns an address beyond memory', '(i32.const 65536)', trap('outside the memory')],
    ['returns the highest address', '(i32.const -4)', trap('outside the memory')],
    ['returns an address that is not aligned', '(i32.const 65)', trap('not aligned')],
    ['returns a string beyond memory', answer(65_000, 1000), trap('outside the memory')],
    ['returns a string of 4 GB', answer(0, -1), trap('outside the memory')],
    ['returns a case that does not exist', answer(0, 0, 2), trap('Variant case 2 is out of range')],
    [
      'returns invalid UTF-8',
      `(i32.store8 (i32.const 100) (i32.const 255)) ${answer(100, 1)}`,
      trap('utf-8'),
    ],
    ['reads outside its memory', '(i32.load (i32.const -1))', trap('memory access out of bounds')],
    ['returns more than it may', answer(0, 60_000), { kind: 'limit', limit: 'output' }],
  ])('%s', async (_, body, outcome) => {
    const prepared = prepareSkill({ main: misbehaving(body) });
    const limits = { valueBytes: 50_000 };
    expect(await execute(prepared, 'misbehave', limits)).toEqual(outcome);
    expect(await execute(prepared, 'echo', limits)).toEqual({ kind: 'ok', value: 'echo' });
  });

  it('recurses endlessly on a stack that can be suspended', async () => {
    const prepared = prepareSkill(
      {
        api: apiOf('say', ['string']),
        imports: '(import "host" "say" (func $say (param i32 i32)))',
        main: misbehaving('(call $say (i32.const 0) (i32.const 0)) (call $forever) (unreachable)'),
      },
      { 'test:host/api': { say: { suspends: true, call: () => Promise.resolve() } } },
    );
    expect(await execute(prepared, 'x')).toEqual(trap('Call stack exhausted'));
    expect(await execute(prepared, 'e')).toEqual({ kind: 'ok', value: 'e' });
  });

  it('calls out at the end of an endless recursion', async () => {
    const prepared = prepareSkill(
      {
        api: apiOf('say', ['string']),
        imports: '(import "host" "say" (func $say (param i32 i32)))',
        main: misbehaving('(call $down) (unreachable)').concat(
          '(func $down (call $say (i32.const 0) (i32.const 0)) (call $down))',
        ),
      },
      { 'test:host/api': { say: { call: () => undefined } } },
    );
    expect(await execute(prepared, 'x', { hostCalls: 10_000_000 })).toEqual(trap('Call stack exhausted'));
    expect(await execute(prepared, 'e')).toEqual({ kind: 'ok', value: 'e' });
  });
});

describe('a core function that does not have its declared type is a trap', () => {
  it.each([
    [
      'execute takes and returns floats',
      '(func (export "execute") (param f64 f64) (result f64) (f64.const 0.5))',
    ],
    [
      'execute returns a 64-bit number',
      '(func (export "execute") (param i32 i32) (result i64) (i64.const 64))',
    ],
    ['execute takes 64-bit numbers', '(func (export "execute") (param i64 i64) (result i32) (i32.const 64))'],
    ['execute returns nothing', '(func (export "execute") (param i32 i32))'],
    [
      'execute returns a function',
      '(func $f (export "execute") (param i32 i32) (result funcref) (ref.func $f))',
    ],
    [
      'execute returns two values',
      '(func (export "execute") (result i32 i32) (i32.const 64) (i32.const 64))',
    ],
  ])('if %s', async (_, main) => {
    expect((await execute(prepareSkill({ main }), 'x')).kind).toBe('trap');
  });

  it.each([
    ['64-bit numbers', '(param i64 i64)', '(call $say (i64.const 0) (i64.const 0))'],
    ['too few', '(param i32)', '(call $say (i32.const 0))'],
    ['a function', '(param funcref i32)', '(call $say (ref.null func) (i32.const 0))'],
    ['floats that are not addresses', '(param f64 f64)', '(call $say (f64.const 1e300) (f64.const nan))'],
  ])('if an import is called with %s', async (_, params, call) => {
    const prepared = prepareSkill(
      {
        api: apiOf('say', ['string']),
        imports: `(import "host" "say" (func $say ${params}))`,
        main: ECHO.replace('(i32.store8', `${call} (i32.store8`),
      },
      { 'test:host/api': { say: { call: () => undefined } } },
    );
    expect(await execute(prepared, 'x')).toEqual(trap('does not have its declared type'));
  });
});

describe('allocator and post-return function', () => {
  const host = { 'test:host/api': { say: { call: () => undefined } } };
  const api = apiOf('say', ['string']);
  const imports = '(import "host" "say" (func $say (param i32 i32)))';

  it.each([
    ['traps', '(unreachable)', 'unreachable'],
    ['returns an address outside memory', '(i32.const -1)', 'outside the memory'],
    ['recurses endlessly', '(call $again (i32.const 0))', 'Call stack exhausted'],
  ])('an allocator that %s', async (_, body, message) => {
    const basics = `(module (memory (export "memory") 1) (global (export "fuel") (mut i64) (i64.const 0))
      (func $again (param i32) (result i32) (call $again (local.get 0)))
      (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) ${body}))`;
    const prepared = prepare(skillDefinitions({ main: ECHO }), [basics, mainModule({ main: ECHO })]);
    expect(await execute(prepared, 'x')).toEqual(trap(message));
    expect(await execute(prepared, 'x')).toEqual(trap(message));
  });

  it('post-return is called with what execute returned', async () => {
    const main = `${ECHO} (func (export "cabi_post_execute") (param i32)
      (if (i32.eq (local.get 0) (i32.const 64)) (then (unreachable))))`;
    expect(await execute(prepareSkill({ main, postReturn: true }), 'x')).toEqual(trap('unreachable'));
    const quiet = `${ECHO} (func (export "cabi_post_execute") (param i32))`;
    expect(await execute(prepareSkill({ main: quiet, postReturn: true }), 'x')).toEqual({
      kind: 'ok',
      value: 'x',
    });
  });

  it('post-return must not call out', async () => {
    const main = `${ECHO} (func (export "cabi_post_execute") (param i32) (call $say (i32.const 0) (i32.const 0)))`;
    const prepared = prepareSkill({ api, imports, main, postReturn: true }, host);
    expect(await execute(prepared, 'x')).toEqual(trap('called out'));
  });

  it('an allocator must not call out', async () => {
    // The allocator reaches the import through a table that the main module fills in.
    const basics = `(module (memory (export "memory") 1) (global (export "fuel") (mut i64) (i64.const 0))
      (table (export "table") 1 funcref) (type $say (func (param i32 i32)))
      (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
        (call_indirect (type $say) (i32.const 0) (i32.const 0) (i32.const 0)) (i32.const 256)))`;
    const main = mainModule({
      imports: `${imports} (import "env" "table" (table 1 funcref))`,
      main: `${ECHO} (elem (i32.const 0) $say)`,
    });
    const prepared = prepare(skillDefinitions({ api, main: '' }), [basics, main], host);
    expect(await execute(prepared, 'x')).toEqual(trap('called out'));
  });
});

describe('start functions', () => {
  const start = (body: string): string => `${ECHO} (func (export "start") (local $n i32) ${body})`;

  it('run before the call, with fuel', async () => {
    const prepared = prepareSkill({
      main: start('(if (i64.ne (global.get $fuel) (i64.const 1000000)) (then (unreachable)))'),
    });
    expect(await execute(prepared, 'x')).toEqual({ kind: 'ok', value: 'x' });
  });

  it('that trap cause a failed call, not a crash', async () => {
    const prepared = prepareSkill({ main: start('(unreachable)') });
    expect(await execute(prepared, 'x')).toEqual(trap('unreachable'));
    expect(await execute(prepared, 'x')).toEqual(trap('unreachable'));
  });

  it('cannot be seen or called by others', () => {
    const definitions = skillDefinitions({ main: ECHO });
    const reaching = [
      ...definitions,
      { kind: 'alias', sort: { core: 'func' }, target: { coreExport: { instance: 2, name: 'start' } } },
    ] as typeof definitions;
    const texts = [`(module ${GUEST_BASICS})`, mainModule({ main: start('') })];
    expect(() => prepare(reaching, texts)).toThrow(/does not export the func "start"/);
    const fuelled = [
      ...definitions,
      { kind: 'alias', sort: { core: 'global' }, target: { coreExport: { instance: 0, name: 'fuel' } } },
    ] as typeof definitions;
    expect(() => prepare(fuelled, texts)).toThrow(/does not export the global "fuel"/);
  });

  it('in real start sections cannot be suspended, so waiting is a trap', async () => {
    const prepared = prepareSkill(
      {
        api: apiOf('say', ['string']),
        imports: '(import "host" "say" (func $say (param i32 i32)))',
        main: start('(call $say (i32.const 0) (i32.const 0))'),
      },
      { 'test:host/api': { say: { suspends: true, call: () => Promise.resolve() } } },
    );
    expect((await execute(prepared, 'x')).kind).toBe('trap');
  });
});

describe('fuel', () => {
  /** Like the rewriter: pay, and stop when nothing is left. */
  const pay = (amount: number, global = '$fuel'): string =>
    `(global.set ${global} (i64.sub (global.get ${global}) (i64.const ${amount})))
     (if (i64.lt_s (global.get ${global}) (i64.const 0)) (then (unreachable)))`;
  const paying = (amount: number): string => ECHO.replace('(i32.store8', `${pay(amount)} (i32.store8`);

  it('is reported, and the same every time', async () => {
    const prepared = prepareSkill({ main: paying(1234) });
    for (let round = 0; round < 3; round += 1) {
      const instance = prepared.instantiate(LIMITS);
      await instance.callExecute('x');
      expect(instance.usage()).toEqual({ fuel: 1234n, hostCalls: 0, memoryBytes: 65_536 });
    }
  });

  it('ends an endless loop, and the next call has fuel again', async () => {
    const prepared = prepareSkill({ main: misbehaving(`(loop $again ${pay(1)} (br $again)) (unreachable)`) });
    expect(await execute(prepared, 'x')).toEqual({ kind: 'limit', limit: 'fuel' });
    expect(await execute(prepared, 'e')).toEqual({ kind: 'ok', value: 'e' });
  });

  it('is one budget for all modules', async () => {
    const basics = `(module ${GUEST_BASICS.replace('(global (export "fuel")', '(global $fuel (export "fuel")').replace('(block $fits', `${pay(600_000)} (block $fits`)})`;
    const link = (amount: number): ReturnType<typeof prepare> =>
      prepare(skillDefinitions({ main: '' }), [basics, mainModule({ main: paying(amount) })]);
    expect(await execute(link(400_000), 'x')).toEqual({ kind: 'ok', value: 'x' });
    expect(await execute(link(400_001), 'x')).toEqual({ kind: 'limit', limit: 'fuel' });
  });

  it('spent by a start function is missing afterwards', async () => {
    const prepared = prepareSkill({ main: `${paying(600_000)} (func (export "start") ${pay(600_000)})` });
    expect(await execute(prepared, 'x')).toEqual({ kind: 'limit', limit: 'fuel' });
    expect(await execute(prepared, 'x', { fuel: 1_200_000n })).toEqual({ kind: 'ok', value: 'x' });
  });

  it('spent by one module is missing in the next one', async () => {
    const basics = `(module ${GUEST_BASICS.replace('(global (export "fuel")', '(global $fuel (export "fuel")')}
      (func (export "start") ${pay(600_000)}))`;
    const main = `${ECHO} (func (export "start")
      (if (i64.ne (global.get $fuel) (i64.const 400000)) (then (unreachable))))`;
    const prepared = prepare(skillDefinitions({ main: '' }), [basics, mainModule({ main })]);
    expect(await execute(prepared, 'x')).toEqual({ kind: 'ok', value: 'x' });
  });

  it('that runs out inside the allocator is also a fuel limit', async () => {
    const basics = `(module ${GUEST_BASICS.replace('(global (export "fuel")', '(global $fuel (export "fuel")').replace('(block $fits', `${pay(2_000_000)} (block $fits`)})`;
    const prepared = prepare(skillDefinitions({ main: ECHO }), [basics, mainModule({ main: ECHO })]);
    expect(await execute(prepared, 'x')).toEqual({ kind: 'limit', limit: 'fuel' });
  });
});

describe('linking fails for', () => {
  it('a core import that is not provided', () => {
    const main = mainModule({ imports: '(import "elsewhere" "f" (func))', main: ECHO });
    expect(() => prepare(skillDefinitions({ main: '' }), [`(module ${GUEST_BASICS})`, main])).toThrow(
      /"f" of "elsewhere"/,
    );
  });

  it('a core import of another kind', () => {
    const main = mainModule({ imports: '(import "env" "memory" (func))', main: ECHO });
    expect(() => prepare(skillDefinitions({ main: '' }), [`(module ${GUEST_BASICS})`, main])).toThrow(
      /"memory" of "env"/,
    );
  });

  it('core functions of different types, as a failed call', async () => {
    const main = mainModule({ imports: '(import "env" "cabi_realloc" (func (param i64)))', main: ECHO });
    const prepared = prepare(skillDefinitions({ main: '' }), [`(module ${GUEST_BASICS})`, main]);
    expect((await execute(prepared, 'x')).kind).toBe('trap');
  });

  it('a file with missing parts', () => {
    const modules = [{ module: compile('(module)'), facts: { fuelExport: 'fuel' } }];
    const component = { definitions: skillDefinitions({ main: '' }) };
    expect(() => prepareComponent({ component, modules, host: {} })).toThrow(
      /does not export the memory "memory"/,
    );
  });
});
