import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it, vi } from 'vitest';
import { LinkError } from '../../../guest/wasm/link/errors.ts';
import { GuestEnd, type Definition } from '../../../guest/wasm/contract.ts';
import {
  apiOf,
  core,
  ECHO,
  execute,
  EXECUTE_TYPES,
  exportFunc,
  func,
  LIMITS,
  mainModule,
  prepare,
  prepareSkill,
  skillDefinitions,
} from './support.ts';
import { GUEST_BASICS } from '../abi/support.ts';
import { thrownOf } from '../../thrown.ts';

const SAY = apiOf('say', ['string']);
const IMPORT_SAY = '(import "host" "say" (func $say (param i32 i32)))';

const CALL_SAY_AND_ECHO = ECHO.replace('(i32.store8', '(call $say (local.get 0) (local.get 1)) (i32.store8');

describe('a component with execute', () => {
  it.each(['utf8', 'utf16', 'latin1+utf16'] as const)(
    'receives and returns strings in %s',
    async (encoding) => {
      const prepared = prepareSkill({ main: ECHO, encoding });
      for (const params of ['', 'plain', 'Grüße', '日本 🦀']) {
        expect(await execute(prepared, params)).toEqual({ kind: 'ok', value: params });
      }
    },
  );

  it('can return its own errors', async () => {
    const prepared = prepareSkill({
      main: ECHO.replace('(i32.const 64) (i32.const 0)', '(i32.const 64) (i32.const 1)'),
    });
    expect(await execute(prepared, 'no')).toEqual({ kind: 'err', value: 'no' });
  });

  it('starts every call fresh', async () => {
    const prepared = prepareSkill({
      main: `(global $calls (mut i32) (i32.const 48))
        (func (export "execute") (param i32 i32) (result i32)
          (global.set $calls (i32.add (global.get $calls) (i32.const 1)))
          (i32.store8 (i32.const 100) (i32.add (i32.load8_u (i32.const 100)) (global.get $calls)))
          (i32.store (i32.const 68) (i32.const 100))
          (i32.store (i32.const 72) (i32.const 1))
          (i32.const 64))`,
    });
    expect(await execute(prepared, '')).toEqual({ kind: 'ok', value: '1' });
    expect(await execute(prepared, '')).toEqual({ kind: 'ok', value: '1' });
  });

  it('serves one call per instance', async () => {
    const instance = prepareSkill({ main: ECHO }).instantiate(LIMITS);
    await instance.callExecute('a');
    await expect(instance.callExecute('b')).rejects.toThrow(LinkError);
  });

  it('must have the type of the skill interface', () => {
    const definitions = skillDefinitions({ main: ECHO });
    definitions[0] = { kind: 'type', type: { kind: 'result', ok: 'string', err: 'u32' } };
    expect(() => prepare(definitions, [`(module ${GUEST_BASICS})`, mainModule({ main: ECHO })])).toThrow(
      /execute: func/,
    );
  });

  it('may use any core names', async () => {
    const definitions = skillDefinitions({ main: '' });
    const aliased = definitions.findIndex((one) => isDeepStrictEqual(one, core('func', 2, 'execute')));
    definitions[aliased] = core('func', 2, '__proto__');
    const main = mainModule({ main: ECHO.replace('"execute"', '"__proto__"') });
    const prepared = prepare(definitions, [`(module ${GUEST_BASICS})`, main]);
    expect(await execute(prepared, 'x')).toEqual({ kind: 'ok', value: 'x' });
  });
});

describe('a command', () => {
  const RUN: Definition[] = [
    { kind: 'type', type: { kind: 'result' } },
    { kind: 'type', type: { kind: 'func', params: [], result: { type: 0 } } },
    { kind: 'core-module', module: 0 },
    { kind: 'core-instance', expr: { instantiate: 0, args: [] } },
    { kind: 'alias', sort: { core: 'func' }, target: { coreExport: { instance: 0, name: 'run' } } },
    { kind: 'canon', canon: { lift: { coreFunc: 0, type: 1, options: { encoding: 'utf8' } } } },
    { kind: 'instance', expr: { exports: [{ name: 'run', sort: 'func', index: 0 }] } },
    { kind: 'export', name: 'wasi:cli/run@0.2.3', sort: 'instance', index: 0 },
  ];
  const module = (result: number): string =>
    `(module (global (export "fuel") (mut i64) (i64.const 0))
      (func (export "run") (result i32) (i32.const ${result})))`;

  it('runs and reports whether it succeeded', async () => {
    const prepared = prepare(RUN, [module(0)]);
    expect(prepared).toMatchObject({ canRun: true, canExecute: false });
    expect(await prepared.instantiate(LIMITS).run()).toEqual({ kind: 'ok', value: '' });
    expect(
      await prepare(RUN, [module(1)])
        .instantiate(LIMITS)
        .run(),
    ).toEqual({ kind: 'err', value: '' });
    expect(
      await prepare(RUN, [module(2)])
        .instantiate(LIMITS)
        .run(),
    ).toMatchObject({ kind: 'trap' });
  });
});

describe('imports of the host', () => {
  const skill = { api: SAY, imports: IMPORT_SAY, main: CALL_SAY_AND_ECHO };

  it('are called with the arguments of the guest', async () => {
    const say = vi.fn();
    const prepared = prepareSkill(skill, { 'test:host/api': { say: { call: say } } });
    expect(await execute(prepared, 'hello')).toEqual({ kind: 'ok', value: 'hello' });
    expect(say).toHaveBeenCalledExactlyOnceWith('hello');
  });

  it('that the host does not have are named in the error', () => {
    expect(thrownOf(LinkError, () => prepareSkill(skill))).toMatchObject({
      interface: 'test:host/api',
      function: 'say',
    });
    const without = thrownOf(LinkError, () => prepareSkill(skill, { 'test:host/api': {} }));
    expect(without).toMatchObject({ interface: 'test:host/api', function: 'say' });
    expect(without.message).toContain('"say" of "test:host/api"');
  });

  it('are not found on prototypes', () => {
    const api = { ...SAY, name: 'constructor' };
    expect(thrownOf(LinkError, () => prepareSkill({ ...skill, api })).interface).toBe('constructor');
    const named = { ...apiOf('toString', ['string']), functions: ['toString'] };
    expect(
      thrownOf(LinkError, () => prepareSkill({ ...skill, api: named }, { 'test:host/api': {} })).function,
    ).toBe('toString');
  });

  it.each([
    ['wasi:io/api@0.2.0', true],
    ['wasi:io/api@0.2.17', true],
    ['wasi:io/api', true],
    ['wasi:io/api@0.3.0', false],
    ['wasi:io/api@0.2.0-rc-2023-11-10', false],
    ['wasi:io/api@0.20.1', false],
    ['wasi:io/api@1.0.0', false],
  ])('by version: %s is compatible: %s', (name, compatible) => {
    const link = (): unknown =>
      prepareSkill(
        { ...skill, api: { ...SAY, name } },
        { 'wasi:io/api': { say: { call: () => undefined } } },
      );
    if (compatible) expect(link()).toBeDefined();
    else expect(thrownOf(LinkError, link).interface).toBe(name);
  });

  it('of kinds other than interfaces are refused', () => {
    const definitions: Definition[] = [
      ...EXECUTE_TYPES,
      { kind: 'import', name: 'f', desc: { kind: 'func', type: 1 } },
    ];
    expect(thrownOf(LinkError, () => prepare(definitions, [])).interface).toBe('f');
  });

  it('may suspend the guest', async () => {
    const api = apiOf('ask', ['u32'], 'u32');
    const prepared = prepareSkill(
      {
        api,
        imports: '(import "host" "ask" (func $ask (param i32) (result i32)))',
        main: `(func (export "execute") (param i32 i32) (result i32)
          (i32.store8 (i32.const 100) (i32.add (call $ask (i32.const 20)) (call $ask (i32.const 28))))
          (i32.store (i32.const 68) (i32.const 100))
          (i32.store (i32.const 72) (i32.const 1))
          (i32.const 64))`,
      },
      {
        'test:host/api': {
          ask: {
            suspends: true,
            // One of the two answers immediately: a function that may suspend need not.
            call: (value) => (value === 20 ? new Promise((resolve) => setTimeout(resolve, 5, 21)) : 28),
          },
        },
      },
    );
    expect(await execute(prepared, '')).toEqual({ kind: 'ok', value: '1' });
    const both = await Promise.all([execute(prepared, ''), execute(prepared, '')]);
    expect(both).toEqual([
      { kind: 'ok', value: '1' },
      { kind: 'ok', value: '1' },
    ]);
  });

  it.each<[string, unknown, object]>([
    ['exit', new GuestEnd('exit', '3'), { kind: 'exit', code: 3 }],
    ['a limit', new GuestEnd('limit', 'output'), { kind: 'limit', limit: 'output' }],
    ['a denial', new GuestEnd('denied', 'network'), { kind: 'denied', detail: 'network' }],
    ['a mistake of the host', new TypeError('oops'), { kind: 'trap', message: 'TypeError: oops' }],
  ])('can end the guest: %s', async (_, error, outcome) => {
    for (const suspends of [false, true]) {
      const fail = (): unknown => {
        if (suspends) return Promise.reject(error);
        throw error;
      };
      const prepared = prepareSkill(skill, { 'test:host/api': { say: { suspends, call: fail } } });
      expect(await execute(prepared, 'x')).toEqual(outcome);
    }
  });

  it('must not return a promise unless they are declared to suspend', async () => {
    const prepared = prepareSkill(skill, { 'test:host/api': { say: { call: () => Promise.resolve() } } });
    expect(await execute(prepared, 'x')).toMatchObject({
      kind: 'trap',
      message: expect.stringContaining('suspend'),
    });
  });

  it('are counted', async () => {
    const prepared = prepareSkill(
      {
        ...skill,
        main: `(func (export "execute") (param i32 i32) (result i32)
        (loop $again (call $say (i32.const 0) (i32.const 0)) (br $again)) (unreachable))`,
      },
      { 'test:host/api': { say: { call: () => undefined } } },
    );
    expect(await execute(prepared, '')).toEqual({ kind: 'limit', limit: 'host_calls' });
  });

  it('end the guest even if it catches their exception', async () => {
    const prepared = prepareSkill(
      {
        ...skill,
        main: ECHO.replace(
          '(i32.store8',
          `(try (do (call $say (i32.const 0) (i32.const 0))) (catch_all)) (i32.store8`,
        ),
      },
      {
        'test:host/api': {
          say: {
            call: () => {
              throw new GuestEnd('limit', 'output');
            },
          },
        },
      },
    );
    expect(await execute(prepared, 'survived')).toEqual({ kind: 'limit', limit: 'output' });
  });
});

describe('an imported function', () => {
  const params = (count: number): 'u32'[] => Array.from({ length: count }, () => 'u32');

  it('receives 16 parameters as core values, 17 through memory', async () => {
    const seen: unknown[][] = [];
    const host = { 'test:host/api': { many: { call: (...args: unknown[]) => void seen.push(args) } } };
    const sixteen = prepareSkill(
      {
        api: apiOf('many', params(16)),
        imports: `(import "host" "many" (func $many (param ${'i32 '.repeat(16)})))`,
        main: ECHO.replace(
          '(i32.store8',
          `(call $many ${Array.from({ length: 16 }, (_, index) => `(i32.const ${index})`).join(' ')}) (i32.store8`,
        ),
      },
      host,
    );
    await execute(sixteen, '');
    const seventeen = prepareSkill(
      {
        api: apiOf('many', params(17)),
        imports: '(import "host" "many" (func $many (param i32)))',
        main: ECHO.replace(
          '(i32.store8',
          `${Array.from({ length: 17 }, (_, index) => `(i32.store (i32.const ${256 + index * 4}) (i32.const ${index}))`).join(' ')}
          (call $many (i32.const 256)) (i32.store8`,
        ),
      },
      host,
    );
    await execute(seventeen, '');
    expect(seen).toEqual([
      Array.from({ length: 16 }, (_, index) => index),
      Array.from({ length: 17 }, (_, index) => index),
    ]);
  });

  it('writes a result of more than one core value to the address that the guest passes', async () => {
    const api = {
      name: 'test:host/api',
      declarations: [func(['u32'], 'string'), exportFunc('name', 0)],
      functions: ['name'],
    };
    const prepared = prepareSkill(
      {
        api,
        imports: '(import "host" "name" (func $name (param i32 i32)))',
        main: `(func (export "execute") (param i32 i32) (result i32)
          (call $name (i32.const 7) (i32.const 68)) (i32.const 64))`,
      },
      { 'test:host/api': { name: { call: (value) => `number ${String(value)}` } } },
    );
    expect(await execute(prepared, '')).toEqual({ kind: 'ok', value: 'number 7' });
  });
});
