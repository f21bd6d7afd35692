import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { EnvRule, FilesystemRule, NetworkRule } from '../../src/manifest/manifest.ts';
import { parseManifest } from '../../src/manifest/parse.ts';
import type { Least } from '../../src/record/least.ts';
import { withPermissions } from '../../src/record/write-manifest.ts';

const NOTHING: Least = { filesystem: [], network: [], env: {}, unused: [], remarks: [] };

const TEXT = `# The skill of a test.
name:   test/one       # odd spaces
env_vars:
  OLD: { required: false }   # gone soon
  KEPT:
    description: Stays as it is.
    required: true
execution: [ wasm,subprocess ]
capabilities:
  # Where it goes.
  network:
    - { host: kept.test }  # still needed
    - host: gone.test
  syscalls: strict
limits: { timeout: 20s, processes: 4 }
constitution: |
  Be kind.
`;

const granted = <T>(rule: T, denied = false): { rule: T; denied: boolean } => ({ rule, denied });

test('everything except permissions stays unchanged to the letter', () => {
  const kept = { required: true, secret: false, hosts: [], description: 'Stays as it is.' };
  const after = withPermissions(TEXT, {
    ...NOTHING,
    network: [
      granted({ host: 'kept.test' }),
      granted<NetworkRule>({ host: 'new.test', methods: ['GET'] }, true),
    ],
    env: { KEPT: granted<EnvRule>(kept) },
    processes: 4,
  });
  expect(after).toBe(`# The skill of a test.
name:   test/one       # odd spaces
env_vars:
  KEPT:
    description: Stays as it is.
    required: true
execution: [ wasm,subprocess ]
capabilities:
  # Where it goes.
  network:
    - { host: kept.test } # still needed
    - { host: new.test, methods: [ GET ] } # requested, but denied in this run
  syscalls: strict
limits: { timeout: 20s, processes: 4 }
constitution: |
  Be kind.
`);
});

test('a manifest that asks for exactly that is not changed', () => {
  const text = `name: a/b\ncapabilities:\n    network: [{host: a.test}]   # why\n`;
  expect(withPermissions(text, { ...NOTHING, network: [granted({ host: 'a.test' })] })).toBe(text);
});

test.each([
  'name: a/b',
  'name: a/b\ncapabilities:\n',
  'name: a/b\nenv_vars:\ncapabilities: {}\nlimits: {}\n',
])('missing or empty keys are filled in: %j', (text) => {
  const filesystem: FilesystemRule[] = [{ path: '${workspace}', access: 'read' }];
  const least = { ...NOTHING, filesystem: filesystem.map((rule) => granted(rule)), processes: 8 };
  const { manifest } = parseManifest(withPermissions(text, least), { file: 'm' });
  expect(manifest.capabilities.filesystem).toEqual(filesystem);
  expect(manifest.limits.processes).toBe(8);
  expect(manifest.declaresCapabilities).toBe(true);
});

test('a manifest in JSON stays JSON', () => {
  const text = JSON.stringify({ name: 'a/b', capabilities: { network: [{ host: 'b.test' }] } }, null, 2);
  const after = withPermissions(text, { ...NOTHING, network: [granted({ host: 'a.test' })], processes: 2 });
  expect(after).toMatch(/^\{/);
  expect(parseManifest(after, { file: 'm' }).manifest).toMatchObject({
    capabilities: { network: [{ host: 'a.test' }] },
    limits: { processes: 2 },
  });
});

test('aliases are expanded', () => {
  const text = `name: a/b\nx: &h [a.test]\nenv_vars:\n  K: { secret: true, hosts: *h }\n  L: {}\n`;
  const rule: EnvRule = { required: false, secret: true, hosts: ['a.test'] };
  const after = withPermissions(text, { ...NOTHING, env: { K: granted(rule) } });
  expect(parseManifest(after, { file: 'm' }).manifest.env).toEqual({ K: rule });
});

const host = fc.constantFrom('a.test', '*.b.test', '192.0.2.1', '2001:db8::1');
const network = fc.array(
  fc.record(
    {
      host,
      port: fc.integer({ min: 1, max: 65_535 }),
      scheme: fc.constantFrom('http' as const, 'https' as const),
      methods: fc.uniqueArray(fc.constantFrom('GET', 'POST'), { minLength: 1 }),
      paths: fc.uniqueArray(
        fc.constantFrom('/', '/a*', '/b: #c', '/{d}').filter((path) => !/[ #]/.test(path)),
        {
          minLength: 1,
        },
      ),
    },
    { requiredKeys: ['host'] },
  ),
  { maxLength: 4 },
);
const filesystem = fc.array(
  fc.record({
    path: fc.constantFrom('${workspace}', '${workspace}/a b', '/data/#x', '/data/ü: y'),
    access: fc.constantFrom('read' as const, 'read-write' as const),
  }),
  { maxLength: 3 },
);
const variable: fc.Arbitrary<EnvRule> = fc.record({
  required: fc.boolean(),
  secret: fc.constant(true),
  hosts: fc.uniqueArray(host, { minLength: 1 }),
});
const env = fc.dictionary(
  fc.constantFrom('OLD', 'A', 'B_2'),
  fc.oneof(
    variable,
    variable.map(({ required }) => ({ required, secret: false, hosts: [] })),
  ),
);
const text = fc.constantFrom(TEXT, 'name: test/one\n', '{"name": "test/one", "env_vars": {"OLD": {}}}');

test('a written manifest parses back, whatever was there before', () => {
  fc.assert(
    fc.property(fc.record({ network, filesystem, env }), text, (wanted, before) => {
      const least: Least = {
        ...NOTHING,
        network: wanted.network.map((rule) => granted(rule as NetworkRule)),
        filesystem: wanted.filesystem.map((rule) => granted(rule, true)),
        env: Object.fromEntries(Object.entries(wanted.env).map(([name, rule]) => [name, granted(rule)])),
      };
      const { manifest } = parseManifest(withPermissions(before, least), { file: 'm' });
      expect(manifest.capabilities.network).toEqual(wanted.network);
      expect(manifest.capabilities.filesystem).toEqual(wanted.filesystem);
      expect(manifest.env).toEqual(wanted.env);
      expect(manifest.limits.processes).toBeUndefined();
    }),
  );
});
