/**
 * A call inside another never gets more than it would get by itself, nor more than the tree began with.
 */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Grant, GrantedPath, GrantedSecret } from '../../src/policy/grant.ts';
import { attenuate } from '../../src/tree/attenuate.ts';
import { DECLARED_LIMITS, type LimitAmounts } from '../../src/vocabulary/limits.ts';

const HOSTS = ['a.example', 'b.example', '*.c.example'];
const NAMES = ['ONE', 'TWO', 'THREE'];

const path: fc.Arbitrary<GrantedPath> = fc.record(
  {
    host: fc.constantFrom('/w', '/w/in', '/d'),
    guest: fc.constantFrom('/workspace', '/workspace/in', '/data'),
    access: fc.constantFrom('read', 'read-write'),
    maxBytes: fc.nat(9),
  },
  { requiredKeys: ['host', 'guest', 'access'] },
);
const rule = fc.record(
  { host: fc.constantFrom(...HOSTS), methods: fc.subarray(['GET', 'POST'], { minLength: 1 }) },
  { requiredKeys: ['host'] },
);
const secret: fc.Arbitrary<GrantedSecret> = fc.record({
  name: fc.constantFrom(...NAMES),
  hosts: fc.subarray(HOSTS),
  required: fc.boolean(),
});
const limits = fc
  .array(fc.nat(99), { minLength: DECLARED_LIMITS.length, maxLength: DECLARED_LIMITS.length })
  .map(
    (amounts) => Object.fromEntries(DECLARED_LIMITS.map((name, at) => [name, amounts[at]])) as LimitAmounts,
  );
const unique = <T>(item: fc.Arbitrary<T>, by: (value: T) => unknown): fc.Arbitrary<T[]> =>
  fc.uniqueArray(item, { selector: by, maxLength: 4 });
const grants: fc.Arbitrary<Grant> = fc
  .record({
    filesystem: unique(path, ({ guest }) => guest),
    network: unique(rule, (value) => JSON.stringify(value)),
    privateAddresses: fc.option(fc.subarray(['127.0.0.1', '::1']), { nil: undefined }),
    env: fc.subarray(NAMES).map((names) => Object.fromEntries(names.map((name) => [name, 'x']))),
    secrets: fc.option(
      unique(secret, ({ name }) => name),
      { nil: undefined },
    ),
    programs: fc.option(fc.subarray(['pdftoppm', 'git']), { nil: undefined }),
    skills: fc.option(fc.subarray(['text/*', 'web/*']), { nil: undefined }),
    syscalls: fc.constantFrom<Grant['syscalls']>('default', 'strict', { deny: ['ptrace'] }),
    limits,
    withheld: fc.constant([]),
  })
  .map((grant) => JSON.parse(JSON.stringify(grant)) as Grant);

/** Everything that a grant allows, as single acts. */
function actsOf(grant: Grant): Set<string> {
  const paths = grant.filesystem.flatMap(({ host, guest, access }) => [
    `read ${host} ${guest}`,
    ...(access === 'read-write' ? [`write ${host} ${guest}`] : []),
  ]);
  return new Set([
    ...paths,
    ...grant.network.map((one) => `network ${JSON.stringify(one)}`),
    ...(grant.privateAddresses ?? []).map((address) => `private ${address}`),
    ...Object.keys(grant.env).map((name) => `env ${name}`),
    ...(grant.secrets ?? []).flatMap(({ name, hosts }) => hosts.map((host) => `secret ${name} ${host}`)),
    ...(grant.programs ?? []).map((name) => `program ${name}`),
    ...(grant.skills ?? []).map((pattern) => `skill ${pattern}`),
  ]);
}

function expectWithin(inner: Grant, outer: Grant): void {
  const allowed = actsOf(outer);
  expect([...actsOf(inner)].filter((act) => !allowed.has(act))).toEqual([]);
  for (const name of DECLARED_LIMITS) expect(inner.limits[name]).toBeLessThanOrEqual(outer.limits[name]);
}

describe('attenuate', () => {
  test('stays within both grants', () => {
    fc.assert(
      fc.property(grants, grants, (own, ceiling) => {
        const grant = attenuate(own, ceiling);
        expectWithin(grant, own);
        expectWithin(grant, ceiling);
      }),
      { numRuns: 1000 },
    );
  });

  test('only shrinks along every path of a tree of calls', () => {
    fc.assert(
      fc.property(grants, fc.array(grants, { maxLength: 4 }), (root, below) => {
        let ceiling = root;
        for (const own of below) {
          ceiling = attenuate(own, ceiling);
          expectWithin(ceiling, root);
        }
      }),
    );
  });

  test('returns the same grant where nothing changed, so that its cells are found again', () => {
    fc.assert(
      fc.property(grants, (own) => {
        expect(attenuate(own, own)).toBe(own);
        expect(attenuate(own, structuredClone(own))).toBe(own);
      }),
    );
  });

  test('keeps writable sizes to the smaller of both', () => {
    const at = (maxBytes?: number): Grant => ({
      ...{ network: [], env: {}, syscalls: 'default', withheld: [] },
      limits: Object.fromEntries(DECLARED_LIMITS.map((name) => [name, 1])) as LimitAmounts,
      filesystem: [
        { host: '/w', guest: '/w', access: 'read-write', ...(maxBytes === undefined ? {} : { maxBytes }) },
      ],
    });
    const sizeOf = (one?: number, other?: number): number | undefined =>
      attenuate(at(one), at(other)).filesystem[0]?.maxBytes;
    expect([sizeOf(5, 3), sizeOf(3, 5), sizeOf(undefined, 4), sizeOf(4)]).toEqual([3, 3, 4, 4]);
  });
});
