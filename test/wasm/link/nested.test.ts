import { describe, expect, it } from 'vitest';
import { LinkError } from '../../../guest/wasm/link/errors.ts';
import type { Definition } from '../../../guest/wasm/contract.ts';
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
import { core, execute, EXECUTE_TYPES, exportFunc, func, mainModule, prepare } from './support.ts';

describe('nested components', () => {
  it('cannot be called while they run', async () => {
    // The outer component passes its own function to an inner one, and calls that.
    const inner: Definition[] = [
      funcOf([], 'u32'),
      { kind: 'import', name: 'back', desc: { kind: 'func', type: 0 } },
      lowerPlain(0),
      bundle(['back', 0]),
      { kind: 'core-module', module: 1 },
      instantiateCore(0, ['host', 0]),
      core('func', 1, 'go'),
      lift(1, 0),
      exportOf('func', 1, 'go'),
    ];
    const definitions: Definition[] = [
      ...EXECUTE_TYPES,
      { kind: 'core-module', module: 0 },
      instantiateCore(0),
      core('memory', 0, 'memory'),
      core('func', 0, 'cabi_realloc'),
      core('func', 0, 'back'),
      funcOf([], 'u32'),
      lift(1, 2),
      { kind: 'component', component: { definitions: inner } },
      { kind: 'instance', expr: { instantiate: 0, args: [{ name: 'back', sort: 'func', index: 0 }] } },
      alias('func', 0, 'go'),
      lower(1),
      bundle(['go', 2]),
      { kind: 'core-module', module: 2 },
      instantiateCore(1, ['env', 0], ['host', 1]),
      core('func', 2, 'execute'),
      {
        kind: 'canon',
        canon: { lift: { coreFunc: 3, type: 1, options: { encoding: 'utf8', memory: 0, realloc: 0 } } },
      },
      exportOf('func', 2, 'execute'),
    ];
    const prepared = prepare(definitions, [
      `(module ${GUEST_BASICS} (func (export "back") (result i32) (i32.const 1)))`,
      `(module (import "host" "back" (func $back (result i32))) ${FUEL} (func (export "go") (result i32) (call $back)))`,
      mainModule({
        imports: '(import "host" "go" (func $go (result i32)))',
        main: executeThat('(drop (call $go))'),
      }),
    ]);
    expect(await execute(prepared, '')).toEqual(trapWith('called while it was running'));
  });

  it('may wait for the host', async () => {
    const api: Definition = type({ kind: 'instance', declarations: [func([], 'u32'), exportFunc('ask', 0)] });
    const inner: Definition[] = [
      api,
      { kind: 'import', name: 'test:host/api', desc: { kind: 'instance', type: 0 } },
      alias('func', 0, 'ask'),
      lowerPlain(0),
      bundle(['ask', 0]),
      { kind: 'alias', sort: { core: 'module' }, target: { outer: { count: 1, index: 1 } } },
      instantiateCore(0, ['host', 0]),
      core('func', 1, 'go'),
      { kind: 'alias', sort: 'type', target: { outer: { count: 1, index: 2 } } },
      lift(1, 1),
      exportOf('func', 1, 'go'),
    ];
    const definitions: Definition[] = [
      ...EXECUTE_TYPES,
      funcOf([], 'u32'),
      api,
      { kind: 'import', name: 'test:host/api', desc: { kind: 'instance', type: 3 } },
      { kind: 'core-module', module: 0 },
      { kind: 'core-module', module: 1 },
      { kind: 'core-module', module: 2 },
      { kind: 'component', component: { definitions: inner } },
      {
        kind: 'instance',
        expr: { instantiate: 0, args: [{ name: 'test:host/api', sort: 'instance', index: 0 }] },
      },
      alias('func', 1, 'go'),
      instantiateCore(0),
      core('memory', 0, 'memory'),
      core('func', 0, 'cabi_realloc'),
      lower(0),
      bundle(['go', 1]),
      instantiateCore(2, ['env', 0], ['host', 1]),
      core('func', 2, 'execute'),
      {
        kind: 'canon',
        canon: { lift: { coreFunc: 2, type: 1, options: { encoding: 'utf8', memory: 0, realloc: 0 } } },
      },
      exportOf('func', 1, 'execute'),
    ];
    const texts = [
      `(module ${GUEST_BASICS})`,
      `(module (import "host" "ask" (func $ask (result i32))) ${FUEL} (func (export "go") (result i32) (call $ask)))`,
      mainModule({
        imports: '(import "host" "go" (func $go (result i32)))',
        main: executeThat('(i32.store8 (i32.const 100) (call $go))'),
      }),
    ];
    const slow = { suspends: true, call: () => new Promise((resolve) => setTimeout(resolve, 2, 65)) };
    const prepared = prepare(definitions, texts, { 'test:host/api': { ask: slow } });
    expect(await execute(prepared, '')).toEqual({ kind: 'ok', value: 'A' });
    const failing = { suspends: true, call: () => Promise.reject(new Error('gone')) };
    const broken = prepare(definitions, texts, { 'test:host/api': { ask: failing } });
    expect(await execute(broken, '')).toEqual({ kind: 'trap', message: 'Error: gone' });
  });

  it('do not multiply without bound', () => {
    let definitions: Definition[] = [];
    for (let level = 0; level < 20; level += 1) {
      definitions = [
        { kind: 'component', component: { definitions } },
        { kind: 'instance', expr: { instantiate: 0, args: [] } },
        { kind: 'instance', expr: { instantiate: 0, args: [] } },
      ];
    }
    expect(() => prepare(definitions, [])).toThrow(/Too many component instances/);
  });

  it.each<[string, Definition[]]>([
    ['an undefined index', [exportOf('func', 3, 'execute')]],
    ['an instance of an undefined component', [{ kind: 'instance', expr: { instantiate: 0, args: [] } }]],
    ['an undefined module', [{ kind: 'core-module', module: 9 }, instantiateCore(0)]],
    [
      'a scope further out than there is',
      [{ kind: 'alias', sort: 'type', target: { outer: { count: 2, index: 0 } } }],
    ],
    [
      'a type that is too large',
      [
        type({ kind: 'tuple', types: ['u64', 'u64'] }),
        ...Array.from({ length: 30 }, (_, index) =>
          type({ kind: 'tuple', types: [{ type: index }, { type: index }] }),
        ),
      ],
    ],
    [
      'a resource of another component',
      [
        API,
        { kind: 'import', name: 'test:host/api', desc: { kind: 'instance', type: 0 } },
        alias('type', 0, 'thing'),
        { kind: 'canon', canon: { resourceNew: 1 } },
      ],
    ],
    [
      'a missing argument',
      [
        {
          kind: 'component',
          component: {
            definitions: [API, { kind: 'import', name: 'a', desc: { kind: 'instance', type: 0 } }],
          },
        },
        { kind: 'instance', expr: { instantiate: 0, args: [] } },
      ],
    ],
  ])('that are inconsistent are refused: %s', (_, definitions) => {
    const host = { 'test:host/api': { log: { call: () => undefined } } };
    expect(() => prepare(definitions, [], host)).toThrow(LinkError);
  });
});
