/**
 * What a person gives to one call of an Agent Skills folder.
 *
 * @module
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { computeGrant } from '../../src/policy/compute-grant.ts';
import type { Grant } from '../../src/policy/grant.ts';
import { DEFAULT_POLICY, parsePolicy, type OperatorPolicy } from '../../src/policy/operator.ts';
import { allowsPath } from '../../src/policy/allows-path.ts';
import { hostCovers } from '../../src/policy/patterns.ts';
import {
  manifestOfCall,
  policyOfCall,
  type GivenToCall,
  type SkillGrants,
} from '../../src/policy/skill-grants.ts';
import type { Manifest } from '../../src/manifest/manifest.ts';
import { thrownBy } from '../thrown.ts';
import { exampleManifest } from './example-manifest.ts';

const NOTHING = exampleManifest({ name: 'skills/pdf', declaresCapabilities: false });
const asCall = (grants: SkillGrants | undefined, workspace?: string): GivenToCall => ({
  grants,
  workspace,
  cwd: '/home/me',
});

const effective = (grants?: SkillGrants, workspace?: string, manifest: Manifest = NOTHING): Manifest =>
  manifestOfCall({ kind: 'script', manifest, files: {} }, asCall(grants, workspace));

function grantOf(grants: SkillGrants, policy: OperatorPolicy = DEFAULT_POLICY, workspace?: string): Grant {
  return computeGrant({
    manifest: effective(grants, workspace),
    policy: policyOfCall(policy, asCall(grants, workspace)),
    call: { env: { TOKEN: 'invented' }, ...(workspace === undefined ? {} : { workspace }) },
  });
}

describe('a call of a folder without a manifest', () => {
  it('has nothing if nothing is given', () => {
    expect(effective()).toEqual(NOTHING);
    expect(effective({})).toEqual(NOTHING);
  });

  it('may read its workspace, and nothing else, if it has one', () => {
    const { filesystem } = grantOf({}, DEFAULT_POLICY, '/home/me/job');
    expect(filesystem).toEqual([{ host: '/home/me/job', guest: '/workspace', access: 'read' }]);
  });

  it('may write exactly what is given, by its place in the workspace', () => {
    const { capabilities } = effective({ write: ['out', '/home/me/job/b', '/data/x'] }, '/home/me/job');
    expect(capabilities.filesystem).toEqual([
      { path: '${workspace}', access: 'read' },
      { path: '${workspace}/out', access: 'read-write' },
      { path: '${workspace}/b', access: 'read-write' },
      { path: '/data/x', access: 'read-write' },
    ]);
  });

  it('may write the whole workspace if that is given', () => {
    const { capabilities } = effective({ write: ['.'] }, 'job');
    expect(capabilities.filesystem).toEqual([{ path: '${workspace}', access: 'read-write' }]);
  });

  it('has paths of the current folder if it has no workspace', () => {
    expect(effective({ read: ['notes'] }).capabilities.filesystem).toEqual([
      { path: '/home/me/notes', access: 'read' },
    ]);
  });

  it('may reach a given host by https, at the port that is named', () => {
    const { network } = effective({
      hosts: ['api.example.com', 'b.example.com:8443', '[2001:db8::1]:443', 'http://127.0.0.1:8080'],
    }).capabilities;
    expect(network).toEqual([
      { host: 'api.example.com', scheme: 'https' },
      { host: 'b.example.com', port: 8443, scheme: 'https' },
      { host: '2001:db8::1', scheme: 'https' },
      { host: '127.0.0.1', port: 8080, scheme: 'http' },
    ]);
  });

  it('has a variable only by its name, and never changes a secret into a plain value', () => {
    expect(grantOf({ env: ['TOKEN'] }).env).toEqual({ TOKEN: 'invented' });
    const secret = { required: true, secret: true, hosts: ['api.example.com'] };
    const manifest = exampleManifest({ env: { TOKEN: secret } });
    expect(effective({ env: ['TOKEN'] }, undefined, manifest).env).toEqual({ TOKEN: secret });
  });

  it('may start the programs that are given, if the policy allows them', () => {
    expect(grantOf({ programs: ['pdftoppm'] }).programs).toEqual(['pdftoppm']);
    const policy = parsePolicy('programs: { allow: [soffice] }', { file: 'p' });
    const grant = grantOf({ programs: ['pdftoppm', 'soffice'] }, policy);
    expect(grant.programs).toEqual(['soffice']);
    expect(grant.withheld).toMatchObject([{ capability: 'program', declared: 'pdftoppm' }]);
  });

  it.each<[string, SkillGrants]>([
    ['a path of the cell itself', { write: ['/tmp/x'] }],
    ['the whole file system', { write: ['/'] }],
    ['an empty path', { write: [''] }],
    ['a pattern', { write: ['/data/*'] }],
    ['a variable in a path', { write: ['${workspace}/${x}'] }],
    ['a path that leaves the workspace', { write: ['${workspace}/../x'] }],
    ['a host with a path', { hosts: ['example.com/x'] }],
    ['a host with a user', { hosts: ['me@example.com'] }],
    ['a host with another scheme', { hosts: ['ftp://example.com'] }],
    ['a host with a port that is none', { hosts: ['example.com:70000'] }],
    ['an empty host', { hosts: [''] }],
    ['a host in an odd spelling', { hosts: ['127.1'] }],
    ['a variable that steers the interpreter', { env: ['PYTHONPATH'] }],
    ['a program with a folder', { programs: ['/bin/sh'] }],
    ['a program that is an option', { programs: ['-c'] }],
  ])('is refused with %s', (_, grants) => {
    const error = thrownBy(() => effective(grants, '/home/me/job'));
    expect(error.code).toBe('usage');
    expect(error.fix).not.toBe('');
  });

  it('is refused with a variable that the policy does not allow', () => {
    const policy = parsePolicy('env: { allow: [OTHER] }', { file: 'p' });
    expect(thrownBy(() => grantOf({ env: ['TOKEN'] }, policy)).fix).toContain('env.allow');
  });

  it('keeps to the paths of a policy that names some', () => {
    const policy = parsePolicy('filesystem: { allow: ["/data/**"] }', { file: 'p' });
    expect(grantOf({ write: ['/srv/x'] }, policy).withheld).toMatchObject([
      { declared: 'read-write /srv/x' },
    ]);
    expect(grantOf({ write: ['/srv/x'] }).filesystem).toMatchObject([{ guest: '/srv/x' }]);
  });
});

describe('a call of a skill with a manifest', () => {
  const manifestOf = (grants: SkillGrants): Manifest =>
    manifestOfCall({ kind: 'function', manifest: NOTHING, files: {} }, asCall(grants, '/home/me/job'));

  it('is given nothing by its workspace or by --env', () => {
    expect(manifestOf({ env: ['TOKEN'] })).toBe(NOTHING);
  });

  it.each<SkillGrants>([
    { write: ['x'] },
    { hosts: ['a.example'] },
    { programs: ['sh'] },
    { limits: { processes: 1 } },
  ])('is refused with %j', (grants) => {
    expect(thrownBy(() => manifestOf(grants)).code).toBe('usage');
  });
});

const PATHS = ['out', 'a/b', '/data', '/data/x', '/srv/y', '.'];
const HOSTS = ['a.example.com', 'b.example.com:8443', 'example.org'];
const POLICY_HOSTS = ['a.example.com', '*.example.com', 'example.org'];
const PROGRAMS = ['soffice', 'pdftoppm', 'git'];
const given = fc.record(
  {
    read: fc.subarray(PATHS),
    write: fc.subarray(PATHS),
    hosts: fc.subarray(HOSTS),
    env: fc.subarray(['TOKEN']),
    programs: fc.subarray(PROGRAMS),
    limits: fc.record({ processes: fc.nat(1000), memory: fc.nat() }, { requiredKeys: [] }),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<SkillGrants>;
const policies: fc.Arbitrary<OperatorPolicy> = fc.record({
  minimum: fc.constant(DEFAULT_POLICY.minimum),
  ceilings: fc
    .nat(500)
    .map((most) => Object.assign({}, DEFAULT_POLICY.ceilings, { processes: most, memory: most })),
  ceilingsSet: fc.constant([]),
  filesystem: fc.record({ allow: fc.subarray(['${workspace}/**', '/data/**', '/srv/*']) }),
  env: fc.constant({ allow: ['TOKEN'] }),
  network: fc.record({ allow: fc.subarray(POLICY_HOSTS) }),
  programs: fc.record({ allow: fc.subarray(PROGRAMS) }),
});

describe('for any grants and any policy, a call', () => {
  it('never gets more than the policy allows', () => {
    fc.assert(
      fc.property(given, policies, (grants, policy) => {
        const grant = grantOf(grants, policy, '/job');
        for (const { host, guest } of grant.filesystem)
          expect(allowsPath(policy, host, guest.replace(/^\/workspace/, '${workspace}'))).toBe(true);
        for (const { host } of grant.network)
          expect(policy.network.allow?.some((pattern) => hostCovers(pattern, host))).toBe(true);
        for (const name of grant.programs ?? []) expect(policy.programs?.allow).toContain(name);
        for (const name of Object.keys(grant.env)) expect(policy.env.allow).toContain(name);
        expect(grant.limits.processes).toBeLessThanOrEqual(policy.ceilings.processes);
        expect(grant.limits.memory).toBeLessThanOrEqual(policy.ceilings.memory);
      }),
    );
  });

  it('never gets anything that was not given', () => {
    fc.assert(
      fc.property(given, (grants) => {
        const grant = grantOf(grants, DEFAULT_POLICY, '/job');
        const hostOf = (path: string): string =>
          path === '.' ? '/job' : path.startsWith('/') ? path : `/job/${path}`;
        const written = (grants.write ?? []).map(hostOf);
        const read = ['/job', ...(grants.read ?? []).map(hostOf)];
        for (const { host, access } of grant.filesystem)
          expect(access === 'read-write' ? written : [...read, ...written]).toContain(host);
        expect(grant.network.length).toBe(grants.hosts?.length ?? 0);
        expect(grant.programs ?? []).toEqual(grants.programs ?? []);
        expect(Object.keys(grant.env)).toEqual(grants.env ?? []);
      }),
    );
  });
});
