import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { computeGrant } from '../../src/policy/compute-grant.ts';
import type { Grant } from '../../src/policy/grant.ts';
import { DEFAULT_POLICY, type OperatorPolicy } from '../../src/policy/operator.ts';
import { resolveGrantPaths } from '../../src/policy/resolve-paths.ts';
import { capableManifest, exampleManifest } from './example-manifest.ts';

let root: string;
let workspace: string;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'skillcell-paths-')));
  workspace = join(root, 'job');
  mkdirSync(join(workspace, 'in'), { recursive: true });
  mkdirSync(join(root, 'outside'));
  writeFileSync(join(root, 'outside', 'secret'), 'invented');
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

/** A grant of one path, as computeGrant returns it. */
async function resolved(
  path: string,
  over: { policy?: OperatorPolicy; workspace?: string; home?: string } = {},
): Promise<Grant> {
  const options = { policy: DEFAULT_POLICY, workspace, ...over };
  const manifest = capableManifest({ filesystem: [{ path, access: 'read' }] });
  const grant = computeGrant({
    manifest,
    policy: options.policy,
    call: { env: {}, workspace: options.workspace },
  });
  return resolveGrantPaths(grant, options);
}

/** Written by hand, because absolute paths below the temporary folder are reserved in a cell. */
async function resolvedAbsolute(host: string, allow: string[]): Promise<Grant> {
  const empty = computeGrant({ manifest: exampleManifest(), policy: DEFAULT_POLICY, call: { env: {} } });
  const grant: Grant = { ...empty, filesystem: [{ host, guest: host, access: 'read' }] };
  return resolveGrantPaths(grant, { policy: { ...DEFAULT_POLICY, filesystem: { allow } } });
}

describe('resolveGrantPaths', () => {
  it.each([
    ['contains', '', 'job/home'],
    ['is', '/in', 'job/in'],
    ['is inside', '/in', 'job'],
  ])('withholds a folder that %s the home of Skillcell', async (_, below, home) => {
    mkdirSync(join(root, home), { recursive: true });
    const grant = await resolved(`\${workspace}${below}`, { home: join(root, home) });
    expect(grant.filesystem).toEqual([]);
    expect(grant.withheld[0]?.reason).toContain("Skillcell's own folder");
  });

  it('grants a folder next to the home of Skillcell', async () => {
    mkdirSync(join(workspace, 'in2'));
    const grant = await resolved('${workspace}/in', { home: join(workspace, 'in2') });
    expect(grant.filesystem).toHaveLength(1);
  });

  it('returns the real path of a folder in the workspace', async () => {
    const grant = await resolved('${workspace}/in');
    expect(grant.filesystem).toEqual([
      { host: join(workspace, 'in'), guest: '/workspace/in', access: 'read' },
    ]);
    expect(grant.withheld).toEqual([]);
  });

  it('follows a link that stays inside, and a workspace that is itself a link', async () => {
    symlinkSync('in', join(workspace, 'alias'));
    symlinkSync(workspace, join(root, 'job-link'));
    expect((await resolved('${workspace}/alias')).filesystem[0]?.host).toBe(join(workspace, 'in'));
    const linked = await resolved('${workspace}/in', { workspace: join(root, 'job-link') });
    expect(linked.filesystem[0]?.host).toBe(join(workspace, 'in'));
  });

  it.each(['../outside', '../outside/secret', '..'])(
    'withholds a link that leads outside: %s',
    async (target) => {
      symlinkSync(target, join(workspace, 'alias'));
      const grant = await resolved('${workspace}/alias');
      expect(grant.filesystem).toEqual([]);
      expect(grant.withheld[0]?.reason).toContain('out of the workspace');
    },
  );

  it('withholds a path that passes through a link, and a sibling with the same prefix', async () => {
    symlinkSync('../outside', join(workspace, 'alias'));
    expect((await resolved('${workspace}/alias/secret')).filesystem).toEqual([]);
    mkdirSync(join(root, 'job-two'));
    symlinkSync('../job-two', join(workspace, 'two'));
    expect((await resolved('${workspace}/two')).filesystem).toEqual([]);
  });

  it('refuses a path that does not exist and says how to create it', async () => {
    await expect(resolved('${workspace}/missing')).rejects.toMatchObject({
      code: 'usage',
      fix: expect.stringContaining(join(workspace, 'missing')) as string,
    });
  });

  it('refuses a link that leads to itself', async () => {
    symlinkSync('loop', join(workspace, 'loop'));
    await expect(resolved('${workspace}/loop')).rejects.toMatchObject({ code: 'usage' });
  });

  it('withholds a socket, because it is not a file', async () => {
    const server = createServer().listen(join(workspace, 'socket'));
    await once(server, 'listening');
    const grant = await resolved('${workspace}/socket');
    server.close();
    expect(grant.filesystem).toEqual([]);
    expect(grant.withheld[0]?.reason).toContain('neither a file nor a folder');
  });

  it('checks the target of an absolute link against the policy', async () => {
    const link = join(root, 'link');
    symlinkSync('outside', link);
    expect((await resolvedAbsolute(link, [link])).withheld[0]?.reason).toContain('policy');
    expect((await resolvedAbsolute(link, [`${root}/**`])).filesystem[0]?.host).toBe(join(root, 'outside'));
    expect((await resolvedAbsolute(join(root, 'outside'), [])).filesystem).toHaveLength(1);
  });
});
