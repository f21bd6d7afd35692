/**
 * Variables and secrets of the host go only to code that a person vouched for.
 *
 * @module
 */
import { describe, expect, it } from 'vitest';
import { computeGrant, type CallOptions } from '../../src/policy/compute-grant.ts';
import type { Grant } from '../../src/policy/grant.ts';
import { DEFAULT_POLICY, parsePolicy } from '../../src/policy/operator.ts';
import { exampleManifest } from './example-manifest.ts';
import { thrownBy } from '../thrown.ts';

const STRANGER: CallOptions = {
  env: { PLAIN: 'value', KEY: 'secret value' },
  approveCommand: 'skillcell approve ./skill',
};

function granted(call: Partial<CallOptions> = {}, policy = '{}', required = false): Grant {
  const env = {
    PLAIN: { required, secret: false, hosts: [] },
    KEY: { required: false, secret: true, hosts: ['api.example.com'] },
    NOT_SET: { required: false, secret: false, hosts: [] },
  };
  return computeGrant({
    manifest: exampleManifest({ env }),
    policy: policy === '{}' ? DEFAULT_POLICY : parsePolicy(policy, { file: 'p' }),
    call: { ...STRANGER, ...call },
  });
}

const namesIn = ({ env, secrets = [] }: Grant): string[] => [
  ...Object.keys(env),
  ...secrets.map(({ name }) => name),
];

describe('a skill without an approval', () => {
  it('gets no variable and no secret, and the report says how it could get them', () => {
    const grant = granted();
    expect(namesIn(grant)).toEqual([]);
    expect(grant.withheld.map(({ declared }) => declared).sort()).toEqual(['KEY', 'PLAIN']);
    expect(grant.withheld[0]?.fix).toMatch(/--env \w+ .*skillcell approve \.\/skill/);
  });

  it('is refused if it requires one', () => {
    const error = thrownBy(() => granted({}, '{}', true));
    expect(error.code).toBe('approval_required');
    expect(error.fix).toContain('--env PLAIN');
  });

  it('gets exactly the variables that the caller names', () => {
    expect(namesIn(granted({ allowEnv: ['KEY'] }))).toEqual(['KEY']);
    expect(namesIn(granted({ allowEnv: ['PLAIN', 'OTHER'] }))).toEqual(['PLAIN']);
    expect(namesIn(granted({}, 'env: { allow: [PLAIN] }', true))).toEqual(['PLAIN']);
  });

  it('gets nothing that the policy forbids, even if the caller names it', () => {
    expect(namesIn(granted({ allowEnv: ['PLAIN', 'KEY'] }, 'env: { allow: [KEY] }'))).toEqual(['KEY']);
  });
});

it('a bundled or approved skill gets what it declares', () => {
  const { approveCommand: _, ...vouched } = STRANGER;
  const grant = computeGrant({
    manifest: exampleManifest({ env: { PLAIN: { required: true, secret: false, hosts: [] } } }),
    policy: DEFAULT_POLICY,
    call: vouched,
  });
  expect(namesIn(grant)).toEqual(['PLAIN']);
});
