/**
 * Two tenants of a cluster have the same skill, and different secrets, workspaces, variables and approvals. One has a dot in
 * its name, which separates the parts of a subject.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { tenantToken } from '../../src/cluster/names.ts';
import { makeToken } from '../../src/http/access-file.ts';
import { packageRoot } from '../../src/package-root.ts';
import { REPORT, reportManifest, startEcho, type Echo } from '../http/report-skill.ts';
import { writeSkill } from '../write-skill.ts';
import { startHttpFront, type HttpFront } from './http-front.ts';
import { openCluster, type ClusterStage } from './stage.ts';

const TENANTS = ['acme', 'umbrella.eu'] as const;
type TenantName = (typeof TENANTS)[number];
/** The part of subjects that stands for `umbrella.eu`, as the name of a third tenant. */
const LOOKALIKE = tenantToken('umbrella.eu');

let stage: ClusterStage;
let front: HttpFront;
let echo: Echo;
const tokens: Record<string, string> = {};

beforeAll(async () => {
  echo = await startEcho();
  // Not in /tmp, which every cell has for itself.
  const folder = realpathSync(mkdtempSync('/var/tmp/skillcell-cluster-tenants-'));
  chmodSync(folder, 0o711);
  writeSkill(folder, {
    id: 'test/report',
    source: REPORT,
    manifest: reportManifest(echo.port),
  });
  writeSkill(folder, { id: 'test/plain', source: 'def execute(params):\n    return "ran"' });
  writeSkill(folder, {
    id: 'test/says_path',
    source: `def execute(params):\n    raise ValueError(${JSON.stringify(join(folder, 'work/umbrella.eu/note.txt'))})`,
  });
  const files = writeTenants(folder);
  stage = await openCluster({ folder, tenants: TENANTS.map((name) => ({ name })) });
  await stage.startWorker('w1', ['--slots', '2', '--tenants', files.tenants, '--policy', files.policy]);
  front = await startHttpFront(stage, ['--access', files.access, '--tenants', files.tenants]);
});

afterAll(async () => {
  await front.stop();
  await stage[Symbol.asyncDispose]();
  await new Promise((resolve) => echo.server.close(resolve));
});

interface Files {
  tenants: string;
  policy: string;
  access: string;
}

function writeTenants(folder: string): Files {
  const settings = [...TENANTS, LOOKALIKE].map((name): [string, object] => {
    const [workspace = '', secrets = ''] = ['work', 'secrets'].map((kind) => join(folder, kind, name));
    for (const dir of [workspace, secrets]) mkdirSync(dir, { recursive: true });
    chmodSync(workspace, 0o777);
    writeFileSync(join(workspace, 'note.txt'), `file of ${name}`);
    writeFileSync(join(secrets, 'API_KEY'), `key-of-${name}-0123456789`);
    const own = { workspace, secrets: [{ file: secrets }], env: { REGION: `region of ${name}` } };
    return [name, name === 'umbrella.eu' ? { ...own, policy: 'umbrella.policy.yaml' } : own];
  });
  const access = [...TENANTS, 'operators'].map((tenant) => {
    const scopes = tenant === 'operators' ? (['admin'] as const) : (['call', 'read'] as const);
    const { entry, secret } = makeToken({ name: 'app', tenant, scopes: [...scopes] });
    tokens[tenant] = secret;
    return entry;
  });
  const files = Object.fromEntries(
    ['tenants', 'policy', 'access'].map((name) => [name, join(folder, `${name}.json`)]),
  ) as unknown as Files;
  const texts: [string, unknown][] = [
    [files.tenants, { version: 1, tenants: Object.fromEntries(settings) }],
    [files.policy, { network: { allow_private: ['127.0.0.1'] } }],
    [files.access, { version: 1, tokens: access }],
    [join(folder, 'umbrella.policy.yaml'), { skills: [{ match: 'test/plain', decision: 'deny' }] }],
  ];
  for (const [file, value] of texts) writeFileSync(file, JSON.stringify(value), { mode: 0o600 });
  return files;
}

interface Answer {
  status: number;
  body: { result?: unknown; call_id?: string; error?: { code: string; message: string } };
  text: string;
}

async function ask(as: string, path: string, options: RequestInit = {}): Promise<Answer> {
  const answer = await fetch(`${front.url}${path}`, {
    ...options,
    headers: { authorization: `Bearer ${tokens[as]}`, 'content-type': 'application/json' },
  });
  const text = await answer.text();
  return { status: answer.status, text, body: JSON.parse(text) as Answer['body'] };
}

function execute(as: TenantName, skill: string, params: unknown = { url: echo.url }): Promise<Answer> {
  return ask(as, `/v1/skills/${skill}/execute`, { method: 'POST', body: JSON.stringify({ params }) });
}

/** On the machine of the worker, where approvals count. */
function approve(...args: string[]): void {
  const { status, stderr } = spawnSync(
    process.execPath,
    [join(packageRoot(), 'bin/skillcell.js'), 'approve', 'test/report', '--yes', ...args],
    {
      encoding: 'utf8',
      cwd: stage.folder,
      env: { ...process.env, SKILLCELL_HOME: join(stage.folder, 'home-w1') },
    },
  );
  expect(status, stderr).toBe(0);
}

describe('two tenants of a cluster with the same skill', () => {
  test('are approved one by one, and get their own files, secrets and variables', async () => {
    const codeOf = async (as: TenantName): Promise<string | undefined> =>
      (await execute(as, 'test/report')).body.error?.code;
    expect(await codeOf('acme')).toBe('approval_required');
    approve('--tenant', 'acme');
    const acme = await execute('acme', 'test/report');
    expect(acme.body, acme.text).toMatchObject({
      result: { note: 'file of acme', region: 'region of acme' },
    });
    expect(echo.received.at(-1)).toBe('Bearer key-of-acme-0123456789');
    // The approval of one tenant is none for another, and neither is that of the operator.
    expect(await codeOf('umbrella.eu')).toBe('approval_required');
    approve();
    expect(await codeOf('umbrella.eu')).toBe('approval_required');
    approve('--tenant', 'umbrella.eu');
    const umbrella = await execute('umbrella.eu', 'test/report');
    expect(umbrella.body, umbrella.text).toMatchObject({
      result: { note: 'file of umbrella.eu', region: 'region of umbrella.eu' },
    });
    expect(echo.received.at(-1)).toBe('Bearer key-of-umbrella.eu-0123456789');
    for (const tenant of TENANTS)
      expect(readFileSync(join(stage.folder, 'work', tenant, 'written.txt'), 'utf8')).toBe('by the skill');
    for (const { text } of [acme, umbrella]) expect(text).not.toMatch(/key-of-/);
  });

  test('are held to their own policies', async () => {
    expect((await execute('acme', 'test/plain')).body.result).toBe('ran');
    expect((await execute('umbrella.eu', 'test/plain')).body.error?.code).toBe('untrusted');
  });

  test('do not learn of each other from calls, receipts and errors', async () => {
    const { body } = await execute('acme', 'test/plain');
    const id = body.call_id ?? '';
    const [other, unknown] = await Promise.all(
      [id, '01JD8Z5K3V9T4S7Q2M6N0P1R8W'].map(async (one) => {
        const { status, text } = await ask('umbrella.eu', `/v1/calls/${one}`);
        return { status, text: text.replaceAll(one, 'ID') };
      }),
    );
    expect(other).toEqual(unknown);
    for (const path of ['/v1/calls', '/v1/receipts', '/v1/stats', '/v1/skills'])
      expect((await ask('umbrella.eu', path)).text).not.toContain('acme');
    // A path of another tenant in a message of the worker.
    const said = await execute('acme', 'test/says_path');
    expect(said.body.error?.code).toBe('skill_error');
    expect(said.text).not.toContain(stage.folder);
    expect(said.text).not.toContain('umbrella');
  });
});

test('the receipts of the worker name the tenants', async () => {
  const { allRows } = await import('../../src/cluster/receipts.ts');
  const { verifyCluster } = await import('../../src/api/cluster.ts');
  expect((await verifyCluster(stage.admin, { settleMs: 60_000 })).problems).toEqual([]);
  const callers = new Set<string>();
  for await (const { writer, row } of allRows(stage.admin)) {
    expect(row?.body).not.toMatch(/key-of-/);
    if (writer === 'w1') callers.add((JSON.parse(row?.body ?? '') as { caller: string }).caller);
  }
  expect([...callers].toSorted()).toEqual(['http:acme:app', 'http:umbrella.eu:app']);
});
