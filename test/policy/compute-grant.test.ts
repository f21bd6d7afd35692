import { describe, expect, it } from 'vitest';
import type { EnvRule, FilesystemRule } from '../../src/manifest/manifest.ts';
import { computeGrant, type CallOptions } from '../../src/policy/compute-grant.ts';
import type { Grant } from '../../src/policy/grant.ts';
import { DEFAULT_POLICY, type OperatorPolicy } from '../../src/policy/operator.ts';
import { grantOf } from '../broker/support.ts';
import { capableManifest, exampleManifest } from './example-manifest.ts';
import { thrownBy } from '../thrown.ts';

const allowing = (over: Partial<OperatorPolicy>): OperatorPolicy => ({ ...DEFAULT_POLICY, ...over });

function grantPaths(filesystem: FilesystemRule[], allow?: string[], call: Partial<CallOptions> = {}): Grant {
  const policy = allow === undefined ? DEFAULT_POLICY : allowing({ filesystem: { allow } });
  const manifest = capableManifest({ filesystem });
  return computeGrant({ manifest, policy, call: { env: {}, workspace: '/home/me/job', ...call } });
}

function grantEnv(rule: Partial<EnvRule>, env: CallOptions['env'], allow?: string[]): Grant {
  const manifest = exampleManifest({ env: { KEY: { required: false, secret: false, hosts: [], ...rule } } });
  const policy = allow === undefined ? DEFAULT_POLICY : allowing({ env: { allow } });
  return computeGrant({ manifest, policy, call: { env } });
}

describe('computeGrant, for limits,', () => {
  it('gives a manifest that asks for nothing only the defaults', () => {
    const grant = computeGrant({
      manifest: exampleManifest(),
      policy: DEFAULT_POLICY,
      call: { env: { A: '1' } },
    });
    expect(grant).toEqual(grantOf());
  });

  it('lets ceilings and the call lower a limit but never raise it', () => {
    const manifest = exampleManifest({ limits: { timeout: 10_000, memory: 1_000, cpu: 9_000 } });
    const policy = allowing({ ceilings: { ...DEFAULT_POLICY.ceilings, cpu: 2_000 } });
    const limits = (call: Omit<CallOptions, 'env'>): Grant['limits'] =>
      computeGrant({ manifest, policy, call: { env: {}, ...call } }).limits;
    expect(limits({})).toMatchObject({ timeout: 10_000, memory: 1_000, cpu: 2_000 });
    expect(limits({ timeout: 99_000, memory: 99_000 })).toMatchObject({ timeout: 10_000, memory: 1_000 });
    expect(limits({ timeout: 500, memory: 5 })).toMatchObject({ timeout: 500, memory: 5 });
  });
});

describe('computeGrant, for files,', () => {
  it('maps the workspace to one guest folder and keeps size limits', () => {
    const grant = grantPaths([
      { path: '${workspace}/./in//a', access: 'read' },
      { path: '${workspace}', access: 'read-write', maxBytes: 7 },
    ]);
    expect(grant.filesystem).toEqual([
      { host: '/home/me/job', guest: '/workspace', access: 'read-write', maxBytes: 7 },
      { host: '/home/me/job/in/a', guest: '/workspace/in/a', access: 'read' },
    ]);
    expect(grant.withheld).toEqual([]);
  });

  it('accepts a workspace with a trailing slash, or the root itself', () => {
    const at = (workspace: string): string[] =>
      grantPaths([{ path: '${workspace}/a', access: 'read' }], undefined, { workspace }).filesystem.map(
        (path) => path.host,
      );
    expect(at('/home/me/job/')).toEqual(['/home/me/job/a']);
    expect(at('/')).toEqual(['/a']);
  });

  it('withholds workspace paths if the call has no workspace, and says how to set one', () => {
    const manifest = capableManifest({ filesystem: [{ path: '${workspace}/a', access: 'read' }] });
    const grant = computeGrant({ manifest, policy: DEFAULT_POLICY, call: { env: {} } });
    expect(grant.filesystem).toEqual([]);
    expect(grant.withheld).toMatchObject([{ capability: 'filesystem', declared: 'read ${workspace}/a' }]);
    expect(grant.withheld[0]?.fix).toContain('--workspace DIR');
  });

  it('withholds what the policy does not allow, and grants what it allows', () => {
    const rules: FilesystemRule[] = [{ path: '/data/in', access: 'read' }];
    expect(grantPaths(rules).filesystem).toEqual([]);
    expect(grantPaths(rules).withheld[0]?.fix).toContain('filesystem.allow');
    expect(grantPaths(rules, ['/data/**']).filesystem).toEqual([
      { host: '/data/in', guest: '/data/in', access: 'read' },
    ]);
  });

  it('lets an absolute pattern cover a workspace below it', () => {
    expect(grantPaths([{ path: '${workspace}/a', access: 'read' }], ['/home/me/**']).filesystem).toHaveLength(
      1,
    );
    expect(grantPaths([{ path: '${workspace}/a', access: 'read' }], ['/home/you/**']).filesystem).toEqual([]);
  });

  it('needs no grant for paths inside the bundle', () => {
    const grant = grantPaths([{ path: 'data/table.json', access: 'read' }]);
    expect([grant.filesystem, grant.withheld]).toEqual([[], []]);
  });

  it.each([
    '/',
    '/usr/share',
    '/bin',
    '/sbin',
    '/lib',
    '/lib64/x',
    '/libx32',
    '/proc/self',
    '/dev/shm',
    '/sys',
    '/tmp/x',
    '/skill',
    '/harness',
    '/deps',
    '/node_modules',
    '/etc/passwd',
    '/run/x',
    '/workspace/x',
    '//usr/./share',
  ])('refuses %s, which the cell itself uses', (path) => {
    const error = thrownBy(() => grantPaths([{ path, access: 'read' }], ['/**']));
    expect(error.code).toBe('manifest_invalid');
    expect(error.message).toContain(`"${path}"`);
  });

  it.each(['', '.', '/data/../etc', '../secret', '${workspace}/../x', '${workspace}x', '${home}/x', '/a\0b'])(
    'refuses the ambiguous path %j',
    (path) =>
      expect(thrownBy(() => grantPaths([{ path, access: 'read' }], ['/**'])).code).toBe('manifest_invalid'),
  );

  it('refuses to make the bundle writable', () => {
    const error = thrownBy(() => grantPaths([{ path: 'data', access: 'read-write' }]));
    expect(error.code).toBe('manifest_invalid');
    expect(error.message).toContain('never writable');
  });

  it('refuses two rules for one path', () => {
    const rules: FilesystemRule[] = [
      { path: '${workspace}/a', access: 'read' },
      { path: '${workspace}//a/', access: 'read-write' },
    ];
    expect(thrownBy(() => grantPaths(rules)).message).toContain('declared twice');
  });
});

describe('computeGrant, for the network,', () => {
  const manifest = capableManifest({
    network: [{ host: 'api.example.com', port: 443 }, { host: 'other.org' }],
  });

  it('grants what is declared if the policy has no list', () => {
    const grant = computeGrant({ manifest, policy: DEFAULT_POLICY, call: { env: {} } });
    expect(grant.network).toEqual(manifest.capabilities.network);
  });

  it('withholds hosts that the policy does not allow', () => {
    const policy = allowing({ network: { allow: ['*.example.com'] } });
    const grant = computeGrant({ manifest, policy, call: { env: {} } });
    expect(grant.network).toEqual([{ host: 'api.example.com', port: 443 }]);
    expect(grant.withheld).toMatchObject([{ capability: 'network', declared: 'other.org' }]);
  });
});

describe('computeGrant, for the environment,', () => {
  it('passes only declared variables that are set', () => {
    expect(grantEnv({}, { KEY: 'v', OTHER: 'secret' }).env).toEqual({ KEY: 'v' });
    expect(grantEnv({}, { OTHER: 'secret' }).env).toEqual({});
    expect(grantEnv({}, { KEY: '' }).env).toEqual({ KEY: '' });
  });

  it('never reads a name from the prototype of the environment', () => {
    const env = { constructor: { required: false, secret: false, hosts: [] } };
    const grant = computeGrant({
      manifest: exampleManifest({ env }),
      policy: DEFAULT_POLICY,
      call: { env: {} },
    });
    expect(Object.keys(grant.env)).toEqual([]);
  });

  it('never puts the value of a secret into the grant', () => {
    const rule = { secret: true, required: true, hosts: ['api.example.com'] };
    const grant = grantEnv(rule, { KEY: 'invented-value' });
    expect(grant.env).toEqual({});
    expect(grant.secrets).toEqual([{ name: 'KEY', hosts: ['api.example.com'], required: true }]);
    expect(JSON.stringify(grant)).not.toContain('invented-value');
  });

  it('withholds a secret that the policy does not allow, and refuses the call if it is required', () => {
    const rule = { secret: true, hosts: ['api.example.com'] };
    const grant = grantEnv(rule, {}, []);
    expect(grant.secrets).toBeUndefined();
    expect(grant.withheld).toMatchObject([{ capability: 'env', declared: 'KEY' }]);
    expect(thrownBy(() => grantEnv({ ...rule, required: true }, {}, [])).fix).toContain('env.allow');
  });

  it('refuses a required variable that is not set', () => {
    const error = thrownBy(() => grantEnv({ required: true }, {}));
    expect(error.code).toBe('usage');
    expect(error.message).toContain('"KEY"');
    expect(error.fix).toContain('export KEY=');
  });

  it('withholds a variable that the policy does not allow, and refuses the call if it is required', () => {
    const grant = grantEnv({}, { KEY: 'v' }, ['ELSE']);
    expect(grant.env).toEqual({});
    expect(grant.withheld).toMatchObject([{ capability: 'env', declared: 'KEY' }]);
    const error = thrownBy(() => grantEnv({ required: true }, { KEY: 'v' }, []));
    expect(error.code).toBe('usage');
    expect(error.fix).toContain('env.allow');
  });
});
