/**
 * Rules about data that moves from one skill to another.
 */
import { describe, expect, test } from 'vitest';
import { forbiddenFlow } from '../../src/policy/flow-rules.ts';
import { extend, restrict } from '../../src/policy/combine.ts';
import { DEFAULT_POLICY, parsePolicy } from '../../src/policy/operator.ts';
import { Flows } from '../../src/tree/flows.ts';
import { capableManifest } from '../policy/example-manifest.ts';

const RULES = [{ from: 'finance/*', hosts: ['*.bank.example'] }];
const to = (...hosts: string[]): ReturnType<typeof capableManifest> => ({
  ...capableManifest({ network: hosts.map((host) => ({ host })) }),
  name: 'web/send',
});
const codeOf = (...[rules, sources, manifest]: Parameters<typeof forbiddenFlow>): string | undefined =>
  forbiddenFlow(rules, sources, manifest)?.code;

describe('a rule about flows', () => {
  test('forbids a skill with a host outside the list, once data of the source may be in its parameters', () => {
    expect(codeOf(RULES, new Set(['finance/read']), to('evil.example'))).toBe('capability_denied');
    expect(codeOf(RULES, new Set(['finance/read']), to('api.bank.example', 'evil.example'))).toBe(
      'capability_denied',
    );
    expect(codeOf(RULES, new Set(['finance/read']), to('*.example'))).toBe('capability_denied');
  });

  test('allows listed hosts, skills without network, and data of others', () => {
    expect(codeOf(RULES, new Set(['finance/read']), to('api.bank.example'))).toBeUndefined();
    expect(codeOf(RULES, new Set(['finance/read']), to())).toBeUndefined();
    expect(codeOf(RULES, new Set(['text/count']), to('evil.example'))).toBeUndefined();
    expect(codeOf(undefined, new Set(['finance/read']), to('evil.example'))).toBeUndefined();
  });

  test('is read from the policy, and rules of several files all count', () => {
    const file = (from: string): ReturnType<typeof parsePolicy> =>
      parsePolicy(JSON.stringify({ flows: [{ from, hosts: [] }] }), { file: `/${from}` });
    const both = extend(restrict(DEFAULT_POLICY, file('a/*')), file('b/*'));
    expect(both.flows?.map(({ from }) => from)).toEqual(['a/*', 'b/*']);
    expect(restrict(both, file('a/*')).flows).toHaveLength(2);
    expect(() => parsePolicy('flows: [{ from: "../x", hosts: [] }]', { file: 'f' })).toThrow();
  });
});

describe('flows of a tree', () => {
  test('name every source once, and never the skill itself', () => {
    const flows = new Flows();
    flows.note('web/send', new Set());
    expect(flows.all).toEqual([]);
    flows.note('web/send', new Set(['b/x', 'a/x', 'web/send']));
    flows.note('web/send', new Set(['a/x']));
    expect(flows.all).toEqual([{ to: 'web/send', from: ['a/x', 'b/x'] }]);
  });
});
