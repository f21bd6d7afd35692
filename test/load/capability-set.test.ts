import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { capabilitySet, diffCapabilities } from '../../src/load/capability-set.ts';
import type { NetworkRule } from '../../src/manifest/manifest.ts';
import { manifestWith } from './helpers.ts';

const MiB = 1024 * 1024;

describe('capabilitySet', () => {
  test('is empty for a manifest that asks for nothing', () => {
    expect(capabilitySet(manifestWith())).toEqual([]);
  });

  test('describes every capability in plain, sorted lines', () => {
    const manifest = manifestWith({
      execution: ['subprocess', 'in_process'],
      executionDemand: 'isolated',
      env: {
        API_KEY: { required: true, secret: true, hosts: ['b.io', 'a.io'] },
        REGION: { required: false, secret: false, hosts: [] },
      },
      capabilities: {
        filesystem: [
          { path: '${workspace}/invoices', access: 'read' },
          { path: '${workspace}/out', access: 'read-write', maxBytes: 64 * MiB },
        ],
        network: [
          { host: 'api.x.io', port: 443, scheme: 'https', methods: ['POST', 'GET'], paths: ['/api*'] },
          { host: '*.y.io' },
          { host: '::1', port: 80, paths: ['/'] },
        ],
        syscalls: 'strict',
      },
      limits: { timeout: 30_000, cpu: 1500, memory: 256 * MiB, processes: 16 },
      container: { dockerfile: 'Dockerfile', buildNetwork: true, user: '1000:1000' },
    });
    expect(capabilitySet(manifest)).toEqual([
      'container build_network',
      'container dockerfile Dockerfile',
      'container user 1000:1000',
      'env API_KEY (secret) for a.io,b.io',
      'env REGION',
      'execution in_process',
      'execution_mode isolated',
      'filesystem read ${workspace}/invoices',
      'filesystem read-write ${workspace}/out up to 64MiB',
      'limit cpu 1500ms',
      'limit memory 256MiB',
      'limit timeout 30s',
      'network *.y.io',
      'network [::1]:80 any /',
      'network https://api.x.io:443 GET,POST /api*',
      'processes 16',
      'syscalls strict',
    ]);
  });

  test('quotes and escapes text that could deceive a reader', () => {
    const path = `a\nnetwork evil.io${String.fromCodePoint(0x202e)}`;
    const manifest = manifestWith({
      capabilities: {
        filesystem: [{ path, access: 'read' }],
        network: [],
        syscalls: { deny: ['bpf', 'any'] },
      },
    });
    expect(capabilitySet(manifest)).toEqual([
      'filesystem read "a\\nnetwork evil.io\\u{202e}"',
      'syscalls deny "any",bpf',
    ]);
  });

  const text = fc.oneof(fc.constantFrom('any', 'none', 'a', 'a b', 'a,b', '"a"', 'a:1', '/x'), fc.string());
  const rule: fc.Arbitrary<NetworkRule> = fc.record(
    {
      host: text,
      port: fc.integer({ min: 1, max: 3 }),
      scheme: fc.constantFrom('http', 'https'),
      methods: fc.uniqueArray(text, { maxLength: 2 }).map((list) => list.sort()),
      paths: fc.uniqueArray(text, { maxLength: 2 }).map((list) => list.sort()),
    },
    { requiredKeys: ['host'] },
  );
  const withNetwork = (network: NetworkRule[]): string[] =>
    capabilitySet(manifestWith({ capabilities: { filesystem: [], network, syscalls: 'default' } }));
  const plain = (rule: NetworkRule): string =>
    JSON.stringify([rule.host, rule.port, rule.scheme, rule.methods, rule.paths]);

  test('never prints the same line for different rules', () => {
    fc.assert(
      fc.property(rule, rule, (one, other) => {
        const same = withNetwork([one])[0] === withNetwork([other])[0];
        expect(same).toBe(plain(one) === plain(other));
      }),
      { numRuns: 3000 },
    );
  });

  test('does not depend on the order of the rules', () => {
    fc.assert(
      fc.property(fc.array(rule, { maxLength: 4 }), (rules) => {
        expect(withNetwork([...rules].reverse())).toEqual(withNetwork(rules));
      }),
    );
  });
});

test('diffCapabilities names the added and the removed capabilities', () => {
  expect(diffCapabilities(['env A', 'processes 1'], ['env A', 'network x.io'])).toEqual([
    '+ network x.io',
    '- processes 1',
  ]);
});
