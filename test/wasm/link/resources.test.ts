import { describe, expect, it } from 'vitest';
import type { Definition, HostInterfaces } from '../../../guest/wasm/contract.ts';
import { GUEST_BASICS } from '../abi/support.ts';
import {
  type,
  funcOf,
  alias,
  exportOf,
  lift,
  lower,
  lowerPlain,
  bundle,
  instantiateCore,
  FUEL,
  executeThat,
  API,
  trapWith,
} from './ast.ts';
import {
  core,
  execute,
  EXECUTE_TYPES,
  exportFunc,
  exportResource,
  func,
  mainModule,
  prepare,
} from './support.ts';

/** Defines a resource with a destructor that logs, and functions on it; also borrows a `thing` of the host. */
const counterComponent: Definition[] = [
  API,
  { kind: 'import', name: 'test:host/api', desc: { kind: 'instance', type: 0 } },
  alias('func', 0, 'log'),
  lowerPlain(0),
  bundle(['log', 0]),
  { kind: 'core-module', module: 1 },
  instantiateCore(0, ['host', 0]),
  core('func', 1, 'dtor'),
  type({ kind: 'resource', destructor: 1 }),
  { kind: 'canon', canon: { resourceNew: 1 } },
  { kind: 'canon', canon: { resourceDrop: 1 } },
  { kind: 'canon', canon: { resourceRep: 1 } },
  alias('type', 0, 'thing'),
  { kind: 'canon', canon: { resourceDrop: 2 } },
  bundle(['new', 2], ['drop', 3], ['rep', 4], ['drop-thing', 5]),
  { kind: 'core-module', module: 2 },
  instantiateCore(1, ['own', 2]),
  core('func', 3, 'make'),
  core('func', 3, 'get'),
  core('func', 3, 'take'),
  core('func', 3, 'keep'),
  core('func', 3, 'release'),
  type({ kind: 'own', resource: 1 }),
  type({ kind: 'borrow', resource: 1 }),
  type({ kind: 'borrow', resource: 2 }),
  funcOf(['u32'], { type: 3 }),
  funcOf([{ type: 4 }], 'u32'),
  funcOf([{ type: 3 }], 'u32'),
  funcOf([{ type: 5 }], 'u32'),
  lift(6, 6),
  lift(7, 7),
  lift(8, 8),
  lift(9, 9),
  lift(10, 9),
  exportOf('type', 1, 'counter'),
  exportOf('func', 1, 'make'),
  exportOf('func', 2, 'get'),
  exportOf('func', 3, 'take'),
  exportOf('func', 4, 'keep'),
  exportOf('func', 5, 'release'),
];

const DTOR = `(module (import "host" "log" (func $log (param i32))) ${FUEL}
  (func (export "dtor") (param i32) (call $log (i32.add (i32.const 1000) (local.get 0)))))`;
const COUNTER = `(module
  (import "own" "new" (func $new (param i32) (result i32)))
  (import "own" "drop" (func $drop (param i32)))
  (import "own" "rep" (func $rep (param i32) (result i32)))
  (import "own" "drop-thing" (func $dropThing (param i32)))
  ${FUEL}
  (func (export "make") (param i32) (result i32) (call $new (local.get 0)))
  (func (export "get") (param i32) (result i32) (local.get 0))
  (func (export "take") (param i32) (result i32) (local $rep i32)
    (local.set $rep (call $rep (local.get 0))) (call $drop (local.get 0)) (local.get $rep))
  (func (export "keep") (param i32) (result i32) (local.get 0))
  (func (export "release") (param i32) (result i32) (call $dropThing (local.get 0)) (i32.const 5)))`;

const THING: Definition[] = [
  type({
    kind: 'instance',
    declarations: [
      exportResource('thing'),
      func(['u32']),
      exportFunc('log', 1),
      { kind: 'type', type: { kind: 'own', resource: 0 } },
      func([], { type: 2 }),
      exportFunc('get-thing', 3),
    ],
  }),
  { kind: 'import', name: 'test:host/api', desc: { kind: 'instance', type: 2 } },
];

const NAMES = ['make', 'get', 'take', 'keep', 'release'];

/** Instantiates the counter component twice; the core module gets all functions of the first and `other` = get of the second. */
const rootDefinitions: Definition[] = [
  ...EXECUTE_TYPES,
  ...THING,
  { kind: 'component', component: { definitions: counterComponent } },
  {
    kind: 'instance',
    expr: { instantiate: 0, args: [{ name: 'test:host/api', sort: 'instance', index: 0 }] },
  },
  {
    kind: 'instance',
    expr: { instantiate: 0, args: [{ name: 'test:host/api', sort: 'instance', index: 0 }] },
  },
  ...NAMES.map((name) => alias('func', 1, name)),
  alias('func', 2, 'get'),
  alias('func', 0, 'log'),
  alias('func', 0, 'get-thing'),
  alias('type', 1, 'counter'),
  alias('type', 0, 'thing'),
  { kind: 'core-module', module: 0 },
  { kind: 'core-module', module: 3 },
  instantiateCore(0),
  core('memory', 0, 'memory'),
  core('func', 0, 'cabi_realloc'),
  ...[...NAMES, 'other', 'log', 'get-thing'].map((_, index) => lower(index)),
  { kind: 'canon', canon: { resourceDrop: 3 } },
  { kind: 'canon', canon: { resourceDrop: 4 } },
  bundle(
    ...[...NAMES, 'other', 'log', 'get-thing', 'drop', 'drop-thing'].map<[string, number]>((name, index) => [
      name,
      index + 1,
    ]),
  ),
  instantiateCore(1, ['env', 0], ['host', 1]),
  core('func', 2, 'execute'),
  {
    kind: 'canon',
    canon: { lift: { coreFunc: 11, type: 1, options: { encoding: 'utf8', memory: 0, realloc: 0 } } },
  },
  exportOf('func', 8, 'execute'),
];

const IMPORTS = `${[...NAMES, 'other']
  .map((name) => `(import "host" "${name}" (func $${name} (param i32) (result i32)))`)
  .join('\n')}
  (import "host" "log" (func $log (param i32)))
  (import "host" "get-thing" (func $thing (result i32)))
  (import "host" "drop" (func $drop (param i32)))
  (import "host" "drop-thing" (func $dropThing (param i32)))`;

async function outcomeAndLog(body: string): Promise<{ log: unknown[]; outcome: object }> {
  const log: unknown[] = [];
  const host: HostInterfaces = {
    'test:host/api': {
      log: { call: (value) => void log.push(value) },
      'get-thing': { call: () => ({ drop: () => void log.push('thing dropped') }) },
    },
  };
  const texts = [
    `(module ${GUEST_BASICS})`,
    DTOR,
    COUNTER,
    mainModule({ imports: IMPORTS, main: executeThat(body) }),
  ];
  const prepared = prepare(rootDefinitions, texts, host);
  const outcome = await execute(prepared, '');
  return { log, outcome };
}

describe('resources between components', () => {
  it('are created, lent and destroyed by the component that defines them', async () => {
    const { log, outcome } = await outcomeAndLog(`
      (local.set $a (call $make (i32.const 7)))
      (call $log (call $get (local.get $a)))
      (call $drop (local.get $a))`);
    expect(outcome).toMatchObject({ kind: 'ok' });
    expect(log).toEqual([7, 1007]);
  });

  it('are invalid after they were transferred', async () => {
    const { log, outcome } = await outcomeAndLog(`
      (local.set $a (call $make (i32.const 7)))
      (call $log (call $take (local.get $a)))
      (call $log (call $get (local.get $a)))`);
    expect(outcome).toEqual(trapWith('Unknown handle'));
    expect(log).toEqual([1007, 7]);
  });

  it.each([
    ['forged', '(call $log (call $get (i32.const 1)))', 'Unknown handle'],
    ['0', '(call $log (call $get (i32.const 0)))', 'Unknown handle'],
    [
      'dropped twice',
      '(local.set $a (call $make (i32.const 7))) (call $drop (local.get $a)) (call $drop (local.get $a))',
      'Unknown handle',
    ],
    ['of another type', '(call $log (call $get (call $thing)))', 'is not a "resource'],
    ['dropped as another type', '(call $drop (call $thing))', 'is not a "resource'],
    [
      'of another instance of the same component',
      '(call $log (call $other (call $make (i32.const 7))))',
      'is not a "resource',
    ],
  ])('cannot be used when %s', async (_, body, message) => {
    expect((await outcomeAndLog(body)).outcome).toEqual(trapWith(message));
  });

  it('of the host can be borrowed further if they are dropped by the end of the call', async () => {
    const { log, outcome } = await outcomeAndLog('(call $log (call $release (call $thing)))');
    expect(outcome).toMatchObject({ kind: 'ok' });
    expect(log).toEqual([5, 'thing dropped']);
  });

  it('of the host that are kept beyond the call are a trap, and are dropped nevertheless', async () => {
    const { log, outcome } = await outcomeAndLog('(call $log (call $keep (call $thing)))');
    expect(outcome).toEqual(trapWith('not dropped by the end'));
    expect(log).toEqual(['thing dropped']);
  });

  it('of the host are dropped at the end of the call, also after a trap', async () => {
    const { log } = await outcomeAndLog('(drop (call $thing)) (drop (call $thing)) (unreachable)');
    expect(log).toEqual(['thing dropped', 'thing dropped']);
  });

  it('have a maximum number', async () => {
    const { log, outcome } = await outcomeAndLog('(loop $more (drop (call $thing)) (br $more))');
    expect(outcome).toEqual({ kind: 'limit', limit: 'handles' });
    expect(log).toHaveLength(100);
  });
});
