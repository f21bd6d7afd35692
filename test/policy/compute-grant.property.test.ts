import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Limits, Manifest } from '../../src/manifest/manifest.ts';
import { computeGrant, type CallOptions } from '../../src/policy/compute-grant.ts';
import { DEFAULT_LIMITS } from '../../src/vocabulary/limits.ts';
import type { Grant, GrantedLimits } from '../../src/policy/grant.ts';
import { DEFAULT_POLICY, type OperatorPolicy } from '../../src/policy/operator.ts';
import { exampleManifest } from './example-manifest.ts';

const LIMITS = Object.keys(DEFAULT_LIMITS) as (keyof GrantedLimits)[];
const NAMES = ['A', 'B', 'C', 'D', '__proto__'];
const HOSTS = ['a.example.com', 'b.example.com', '*.example.com', 'example.org'];
const PATHS = ['${workspace}', '${workspace}/a', '${workspace}/a/b', '/data', '/data/x', '/srv/y', 'data'];
const PATTERNS = ['${workspace}/**', '${workspace}/a', '/data/**', '/srv/*', '/job/**'];

const amount = fc.integer({ min: 0, max: 1_000_000 });
const everyLimit = fc.record(
  Object.fromEntries(LIMITS.map((name) => [name, amount])),
) as fc.Arbitrary<GrantedLimits>;
const someLimits = fc.record(Object.fromEntries(LIMITS.map((name) => [name, amount])), {
  requiredKeys: [],
}) as fc.Arbitrary<Limits>;

const manifests: fc.Arbitrary<Manifest> = fc
  .record({
    limits: someLimits,
    names: fc.subarray(NAMES),
    secrets: fc.subarray(NAMES),
    hosts: fc.subarray(HOSTS),
    paths: fc.subarray(PATHS),
  })
  .map(({ limits, names, secrets, hosts, paths }) =>
    exampleManifest({
      limits,
      env: Object.fromEntries(
        names.map((name) => [name, { required: false, secret: secrets.includes(name), hosts: [] }]),
      ),
      capabilities: {
        filesystem: paths.map((path) => ({ path, access: path === 'data' ? 'read' : 'read-write' })),
        network: hosts.map((host) => ({ host })),
        syscalls: 'default',
      },
    }),
  );

const listOf = (values: string[]): fc.Arbitrary<{ allow?: string[] }> =>
  fc.record({ allow: fc.subarray(values) }, { requiredKeys: [] });

const policies: fc.Arbitrary<OperatorPolicy> = fc.record({
  minimum: fc.constant(DEFAULT_POLICY.minimum),
  ceilings: everyLimit,
  ceilingsSet: fc.constant([]),
  filesystem: fc.record({ allow: fc.subarray(PATTERNS) }),
  env: listOf(NAMES),
  network: listOf(HOSTS),
});

const environments = fc
  .subarray([...NAMES, 'HOST_ONLY'])
  .map((names) => Object.fromEntries(names.map((name) => [name, `value of ${name}`])));

const calls: fc.Arbitrary<CallOptions> = fc.record(
  { timeout: amount, memory: amount, workspace: fc.constantFrom('/job', '/else'), env: environments },
  { requiredKeys: ['env'] },
);

const inputs = fc.record({ manifest: manifests, policy: policies, call: calls });

/** Is everything in `small` also in `large`? */
function expectWithin(small: Grant, large: Grant): void {
  for (const name of LIMITS) expect(small.limits[name]).toBeLessThanOrEqual(large.limits[name]);
  for (const path of small.filesystem) expect(large.filesystem).toContainEqual(path);
  for (const rule of small.network) expect(large.network).toContainEqual(rule);
  expect(Object.keys(large.env)).toEqual(expect.arrayContaining(Object.keys(small.env)));
}

describe('computeGrant, for any manifest, policy and call,', () => {
  it('never exceeds the manifest, the policy or the call', () => {
    fc.assert(
      fc.property(inputs, ({ manifest, policy, call }) => {
        const { limits } = computeGrant({ manifest, policy, call });
        for (const name of LIMITS) {
          expect(limits[name]).toBeLessThanOrEqual(manifest.limits[name] ?? DEFAULT_LIMITS[name]);
          expect(limits[name]).toBeLessThanOrEqual(policy.ceilings[name]);
        }
        expect(limits.timeout).toBeLessThanOrEqual(call.timeout ?? Infinity);
        expect(limits.memory).toBeLessThanOrEqual(call.memory ?? Infinity);
      }),
    );
  });

  it('passes only variables that are declared, not secret, allowed and set', () => {
    fc.assert(
      fc.property(inputs, ({ manifest, policy, call }) => {
        const { env } = computeGrant({ manifest, policy, call });
        for (const [name, value] of Object.entries(env)) {
          expect(Object.keys(manifest.env)).toContain(name);
          expect(manifest.env[name]?.secret).toBe(false);
          expect(policy.env.allow ?? [name]).toContain(name);
          expect(value).toBe(`value of ${name}`);
        }
      }),
    );
  });

  it('either grants or withholds every declared path and host, and nothing else', () => {
    fc.assert(
      fc.property(inputs, ({ manifest, policy, call }) => {
        const grant = computeGrant({ manifest, policy, call });
        const count = (capability: string): number =>
          grant.withheld.filter((one) => one.capability === capability).length;
        const declared = manifest.capabilities.filesystem.filter((rule) => rule.path !== 'data');
        expect(grant.filesystem.length + count('filesystem')).toBe(declared.length);
        expect(grant.network.length + count('network')).toBe(manifest.capabilities.network.length);
        const hosts = grant.network.map((rule) => rule.host);
        const refused = grant.withheld
          .filter((one) => one.capability === 'network')
          .map((one) => one.declared);
        expect([...hosts, ...refused].sort()).toEqual(
          manifest.capabilities.network.map((rule) => rule.host).sort(),
        );
      }),
    );
  });

  it('keeps every granted workspace path below the workspace and below the guest folder', () => {
    fc.assert(
      fc.property(inputs, ({ manifest, policy, call }) => {
        for (const path of computeGrant({ manifest, policy, call }).filesystem) {
          if (!path.guest.startsWith('/workspace')) expect(path.host).toBe(path.guest);
          else expect(path.host).toBe(`${call.workspace}${path.guest.slice('/workspace'.length)}`);
        }
      }),
    );
  });

  it('never grants more if the manifest, the policy or the call asks for less', () => {
    const pick = fc.infiniteStream(fc.boolean());
    fc.assert(
      fc.property(inputs, pick, ({ manifest, policy, call }, choices) => {
        const keep = (): boolean => choices.next().value ?? true;
        const whole = computeGrant({ manifest, policy, call });
        const { filesystem, network } = manifest.capabilities;
        const lessDeclared: Manifest = {
          ...manifest,
          env: Object.fromEntries(Object.entries(manifest.env).filter(keep)),
          capabilities: {
            filesystem: filesystem.filter(keep),
            network: network.filter(keep),
            syscalls: 'default',
          },
        };
        const lessAllowed: OperatorPolicy = {
          ...policy,
          filesystem: { allow: policy.filesystem.allow.filter(keep) },
          env: { allow: (policy.env.allow ?? NAMES).filter(keep) },
          network: { allow: (policy.network.allow ?? HOSTS).filter(keep) },
        };
        const lessAsked: CallOptions = {
          ...call,
          env: Object.fromEntries(Object.entries(call.env).filter(keep)),
        };
        expectWithin(computeGrant({ manifest: lessDeclared, policy, call }), whole);
        expectWithin(computeGrant({ manifest, policy: lessAllowed, call }), whole);
        expectWithin(computeGrant({ manifest, policy, call: lessAsked }), whole);
      }),
    );
  });

  it('never raises a limit if any of its sources is lowered', () => {
    fc.assert(
      fc.property(inputs, fc.double({ min: 0, max: 1, noNaN: true }), ({ manifest, policy, call }, f) => {
        const lowered = <T extends object>(limits: T): T =>
          Object.fromEntries(Object.entries(limits).map(([name, value]) => [name, Number(value) * f])) as T;
        const { timeout = 1_000_000, memory = 1_000_000 } = call;
        const whole = computeGrant({ manifest, policy, call });
        const lowerManifest = { ...manifest, limits: lowered(manifest.limits) };
        const lowerPolicy = { ...policy, ceilings: lowered(policy.ceilings) };
        const lowerCall = { ...call, ...lowered({ timeout, memory }) };
        expectWithin(computeGrant({ manifest: lowerManifest, policy, call }), whole);
        expectWithin(computeGrant({ manifest, policy: lowerPolicy, call }), whole);
        expectWithin(computeGrant({ manifest, policy, call: lowerCall }), whole);
      }),
    );
  });
});
