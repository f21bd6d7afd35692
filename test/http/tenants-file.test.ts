/**
 * The file of tenants: what is refused, and what an edit changes in a running service.
 */
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DEFAULT_POLICY, LiveTenants, type OperatorPolicy } from '../../src/inside.ts';
import { folderPerTest } from '../test-folder.ts';
import { TenantsStage } from './tenants-stage.ts';

const folder = folderPerTest();

const ISSUER = {
  issuer: 'https://login.example',
  audience: 'skillcell',
  jwks: 'https://login.example/keys',
  algorithms: ['RS256'],
  claim: 'org',
  tenants: {},
  scopes: ['call'],
};

function read(settings: Record<string, unknown>, policy: OperatorPolicy = DEFAULT_POLICY): LiveTenants {
  const file = folder.at('tenants.yaml');
  writeFileSync(file, JSON.stringify({ version: 1, ...settings }));
  return new LiveTenants({ file, policy: () => policy, own: [folder.at('own')] });
}

describe('a file of tenants', () => {
  beforeEach(() => {
    for (const name of ['a', 'a/inner', 'b', 'own']) mkdirSync(folder.at(name), { recursive: true });
    symlinkSync(folder.at('a'), folder.at('link'));
  });

  test.each<[string, Record<string, unknown>, string]>([
    ['an unknown key', { tenants: { a: { workspaces: 'a' } } }, 'workspaces'],
    ['an unknown key at the top', { tenants: {}, tenant: {} }, 'tenant'],
    ['another version', { version: 2, tenants: {} }, 'version'],
    ['a name that is a path', { tenants: { '../a': {} } }, 'Invalid key'],
    ['a tenant that is an operator', { tenants: { a: {} }, operators: ['a'] }, 'differ only in case'],
    ['names that differ in case', { tenants: { a: {}, A: {} } }, 'differ only in case'],
    ['a workspace that is not there', { tenants: { a: { workspace: 'none' } } }, 'is not a folder'],
    ['a shared workspace', { tenants: { a: { workspace: 'a' }, b: { workspace: 'a' } } }, 'overlaps'],
    [
      'a workspace inside another',
      { tenants: { a: { workspace: 'a' }, b: { workspace: 'a/inner' } } },
      'overlaps',
    ],
    [
      'a workspace behind a link',
      { tenants: { a: { workspace: 'a' }, b: { workspace: 'link' } } },
      'overlaps',
    ],
    [
      'secrets in a workspace',
      { tenants: { a: { workspace: 'a' }, b: { secrets: [{ file: 'a/inner' }] } } },
      'overlaps',
    ],
    [
      'its own secrets in its workspace',
      { tenants: { a: { workspace: 'a', secrets: [{ file: 'a/key' }] } } },
      'overlaps',
    ],
    ['a workspace of the operator', { tenants: { a: { workspace: 'own' } } }, 'overlaps'],
    ['a workspace that holds the file itself', { tenants: { a: { workspace: '.' } } }, 'overlaps'],
    ['secrets of the environment', { tenants: { a: { secrets: ['environment'] } } }, 'secrets'],
    [
      'an issuer with a shared secret',
      { tenants: {}, issuers: [{ ...ISSUER, algorithms: ['HS256'] }] },
      'algorithms',
    ],
    ['an issuer without algorithms', { tenants: {}, issuers: [{ ...ISSUER, algorithms: [] }] }, 'algorithms'],
    ['an issuer that makes admins', { tenants: {}, issuers: [{ ...ISSUER, scopes: ['admin'] }] }, 'scopes'],
    [
      'keys over plain http',
      { tenants: {}, issuers: [{ ...ISSUER, jwks: 'http://login.example/k' }] },
      'https',
    ],
    ['an issuer of an unknown tenant', { tenants: {}, issuers: [{ ...ISSUER, tenants: { x: 'y' } }] }, '"y"'],
  ])('with %s is refused', (_, settings, reason) => {
    expect(() => read(settings)).toThrow(
      expect.objectContaining({ code: 'usage', message: expect.stringContaining(reason) }),
    );
  });

  test('with a policy that grants more than the operator policy is refused, and names the key', () => {
    const settings = { tenants: { a: { policy: 'a.policy.yaml' } } };
    writeFileSync(folder.at('a.policy.yaml'), 'network: { allow: [a.example] }');
    expect(() => read(settings)).not.toThrow();
    const narrow = { ...DEFAULT_POLICY, network: { allow: ['b.example'] } };
    expect(() => read(settings, narrow)).toThrow('"network.allow"');
    writeFileSync(folder.at('a.policy.yaml'), 'ceilings: { timeout: 24h }');
    expect(() => read(settings)).toThrow('"ceilings.timeout"');
    writeFileSync(folder.at('a.policy.yaml'), 'secrets: [environment]');
    expect(() => read(settings)).toThrow('under "secrets" of the tenant');
  });

  test('that is not there, or not YAML, is refused', () => {
    const file = folder.at('tenants.yaml');
    const open = (): LiveTenants => new LiveTenants({ file, policy: () => DEFAULT_POLICY });
    expect(open).toThrow('Refused the tenants');
    writeFileSync(file, 'tenants: [');
    expect(open).toThrow('Refused the tenants');
  });
});

describe('an edit of the file', () => {
  let stage: TenantsStage;
  const REPORT = `
    def execute(params):
        with open("/workspace/note.txt") as file:
            return file.read()
  `;

  beforeEach(async () => {
    const manifest = {
      env_vars: { REGION: { required: false } },
      capabilities: { filesystem: [{ path: '${workspace}', access: 'read' }] },
    };
    stage = await new TenantsStage({ skills: { report: { source: REPORT, manifest } } }).open();
  });
  afterEach(() => stage[Symbol.asyncDispose]());

  const call = async (as = 'acme'): Promise<unknown> => {
    const { status, body } = await stage.execute(as, 'test/report');
    return status === 200 ? body.result : status;
  };

  test('that removes a tenant counts at once, and back again when the file says so', async () => {
    expect(await call()).toBe('file of acme');
    stage.edit('acme', undefined);
    expect(await call()).toBe(401);
    expect(await call('umbrella')).toBe('file of umbrella');
    // Its token has the scope metrics, and must not become one of the operator.
    expect((await stage.ask('/metrics', { as: 'acme' })).status).toBe(401);
    expect((await stage.ask('/metrics', { as: 'prometheus' })).status).toBe(200);
    stage.edit('acme', {});
    expect(await call()).toBe('file of acme');
  });

  test('that gives another workspace takes the old one away, and waits with the new one', async () => {
    const other = join(stage.folder, 'work/acme2');
    mkdirSync(other);
    writeFileSync(join(other, 'note.txt'), 'second file of acme');
    stage.edit('acme', { workspace: other });
    expect(await call()).toEqual(expect.any(Number));
    expect(stage.notes.at(-1)).toContain('waits for SIGHUP or a restart: tenants.acme');
    expect(stage.tenants.reload()).toBe(true);
    expect(await call()).toBe('second file of acme');
  });

  test('that adds a tenant, a secret, a scope or a higher limit waits', () => {
    stage.edit('stranger', {});
    expect(stage.tenants.find('stranger')).toBeUndefined();
    const own = stage.tenants.find('acme')?.context;
    stage.edit('acme', {
      secrets: [{ command: ['vault', '{name}'] }],
      env: { REGION: 'other', MORE: 'x' },
      limits: { concurrent: 100 },
      uploads: {},
    });
    expect(stage.tenants.find('acme')).toMatchObject({
      context: { secrets: [], env: {}, workspace: own?.workspace },
      limits: { concurrent: 100 },
    });
    expect(stage.tenants.find('acme')?.uploads).toBeUndefined();
    stage.tenants.reload();
    expect(stage.tenants.find('acme')).toMatchObject({
      context: { env: { REGION: 'other', MORE: 'x' } },
      uploads: { skills: 20 },
    });
  });

  test('that breaks the file changes nothing, and says so', async () => {
    writeFileSync(stage.tenantsFile, 'tenants: [');
    expect(await call()).toBe('file of acme');
    expect(stage.notes.at(-1)).toContain('What was in force stays in force');
    expect(stage.tenants.reload()).toBe(false);
    rmSync(stage.tenantsFile);
    expect(await call()).toBe('file of acme');
  });
});
