import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { GuestEnd } from '../../../guest/wasm/contract.ts';
import { harness, ok } from './harness.ts';

const JUNK: unknown[] = [
  ...[undefined, null, true, -1, 1.5, Number.NaN, 2 ** 40, 0, 5, 1n, -1n, 1n << 64n, 1n << 63n, 9n],
  ...['', 'a', '..', 'a\0', Symbol('s'), () => 1, new Uint8Array(3), new Uint32Array(2), new Date(0)],
  ...[[], [[]], [['a', 'b']], [1, 2, 3], ['x', new Uint8Array(1)], [['x', new Uint8Array(1)]]],
  ...[
    {},
    { tag: 'timestamp' },
    { tag: 1 },
    { tag: 'timestamp', val: {} },
    { tag: 'other' },
    { ok: 1 },
    { err: 1 },
  ],
  ...[
    { tag: 'now' },
    { 'symlink-follow': true },
    { 'symlink-follow': 1 },
    Object.create(null),
    { __proto__: null },
  ],
  { create: true, directory: false, exclusive: false, truncate: true },
  { read: true, write: true, 'mutate-directory': true },
];

/** Handles of every kind, all of which are always ready. */
function handles(use: ReturnType<typeof harness>['use']): unknown[] {
  const fields = use('http/types', '[constructor]fields');
  const request = use('http/types', '[constructor]outgoing-request', fields);
  const directories = use('filesystem/preopens', 'get-directories') as [[unknown, string]];
  return [
    ...[fields, request, directories[0][0]],
    use('cli/stdin', 'get-stdin'),
    use('cli/stdout', 'get-stdout'),
    use('clocks/monotonic-clock', 'subscribe-instant', 0n),
    use('http/types', '[constructor]request-options'),
    ok(use('http/types', '[method]outgoing-request.body', request)),
  ];
}

test('every argument of every host function leads to an answer or to the end of the guest', async () => {
  const { wasi, use, host } = harness({ stdin: Buffer.from('abc') });
  const functions = Object.values(wasi.interfaces).flatMap((one) => Object.entries(one));
  expect(functions.length).toBeGreaterThan(100);
  const values = [...JUNK, ...handles(use)];
  const endings = { trap: 0, limit: 0, exit: 0, denied: 0 };
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...functions),
      fc.array(fc.constantFrom(...values), { maxLength: 6 }),
      async ([, { call }], args) => {
        try {
          await call(...args);
        } catch (error) {
          expect(error).toBeInstanceOf(GuestEnd);
          endings[(error as GuestEnd).kind] += 1;
        }
      },
    ),
    { numRuns: 8000 },
  );
  expect(endings.trap).toBeGreaterThan(1000);
  host.finish();
});

test('each host function that takes a handle refuses a missing one, a number and a handle of another kind', async () => {
  const { wasi, use } = harness();
  const methods = Object.values(wasi.interfaces)
    .flatMap((one) => Object.entries(one))
    .filter(([name]) => name.startsWith('[method]'));
  const wrong = [undefined, null, 1, {}, use('http/types', '[constructor]request-options')];
  for (const [name, { call }] of methods) {
    const others = name.startsWith('[method]request-options') ? wrong.slice(0, -1) : wrong;
    for (const value of others) {
      let error: unknown;
      try {
        await call(value, 1n, 1n);
      } catch (caught) {
        error = caught;
      }
      expect(error, name).toBeInstanceOf(GuestEnd);
    }
  }
});
