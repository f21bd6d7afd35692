/**
 * Two tenants of one service have the same skill, and different secrets, workspaces, policies and approvals.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { REPORT, reportManifest, startEcho, type Echo } from './report-skill.ts';
import { writeSkill } from '../write-skill.ts';
import { TenantsStage } from './tenants-stage.ts';

let echo: Echo;
let stage: TenantsStage;

beforeAll(async () => {
  echo = await startEcho();
  stage = await new TenantsStage({
    policy: 'network: { allow_private: [127.0.0.1] }',
    skills: {
      report: {
        source: REPORT,
        manifest: reportManifest(echo.port),
      },
    },
  }).open();
});

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
  await new Promise((resolve) => echo.server.close(resolve));
});

describe('two tenants with the same skill', () => {
  test('are approved one by one, and get their own files, secrets and variables', async () => {
    const call = (as: string): ReturnType<TenantsStage['execute']> =>
      stage.execute(as, 'test/report', { url: echo.url });
    expect((await call('acme')).body.error?.code).toBe('approval_required');
    expect(await stage.approve('test/report', 'acme')).toBe(200);
    const ofAcme = await call('acme');
    expect(ofAcme.body, JSON.stringify(ofAcme.body.error)).toMatchObject({
      result: { note: 'file of acme', region: 'region of acme' },
    });
    expect(echo.received.at(-1)).toBe('Bearer key-of-acme-0123456789');
    // The approval of one tenant is none for another, nor for the operator.
    expect((await call('umbrella')).body.error?.code).toBe('approval_required');
    expect((await call('admin')).body.error?.code).toBe('approval_required');
    expect(await stage.approve('test/report', 'umbrella')).toBe(200);
    const ofUmbrella = await call('umbrella');
    expect(ofUmbrella.body).toMatchObject({
      result: { note: 'file of umbrella', region: 'region of umbrella' },
    });
    expect(echo.received.at(-1)).toBe('Bearer key-of-umbrella-0123456789');
    expect(readFileSync(join(stage.folder, 'work/acme/written.txt'), 'utf8')).toBe('by the skill');
    expect(readFileSync(join(stage.folder, 'work/umbrella/written.txt'), 'utf8')).toBe('by the skill');
    // The secret of neither was ever in a cell, in an answer or in a receipt.
    const receipts = await (await stage.ask('/v1/receipts', { as: 'admin' })).text();
    expect(receipts).toContain('http:umbrella:umbrella');
    for (const text of [receipts, JSON.stringify(ofAcme.body), JSON.stringify(ofUmbrella.body)])
      expect(text).not.toMatch(/key-of-/);
  });

  test('keep their approvals apart when one is revoked', async () => {
    await stage.approve('test/report', 'acme');
    await stage.approve('test/report', 'umbrella');
    await stage.ask('/v1/skills/test/report/approval?tenant=acme', { method: 'DELETE', as: 'admin' });
    expect((await stage.execute('acme', 'test/report', { url: echo.url })).body.error?.code).toBe(
      'approval_required',
    );
    expect((await stage.execute('umbrella', 'test/report', { url: echo.url })).status).toBe(200);
  });
});

const READS = `
  def execute(params):
      with open(params["path"]) as file:
          return file.read()
`;

describe('a tenant', () => {
  test('gets no file of another, even if the policy allows it and the skill declares it', async () => {
    await using own = await new TenantsStage({
      policy: 'filesystem: { allow: ["/**"] }',
      acme: { policy: 'acme.policy.yaml' },
      files: { 'acme.policy.yaml': 'filesystem: { allow: ["/**"] }' },
    }).open();
    const [note, secret] = ['work/umbrella/note.txt', 'secrets/umbrella/API_KEY'].map((path) =>
      join(own.folder, path),
    );
    for (const path of [note, secret, own.tenantsFile, join(own.folder, 'access.json')] as string[]) {
      const name = `reads_${path.split('/').at(-1)?.toLowerCase().replace(/\W/g, '_')}`;
      writeSkill(own.folder, {
        id: `test/${name}`,
        source: READS,
        manifest: { execution: ['subprocess'], capabilities: { filesystem: [{ path, access: 'read' }] } },
      });
      const operator = await own.runtime.execute(`test/${name}`, { path }, { reject: false, isolated: true });
      const { body } = await own.execute('acme', `test/${name}`, { path });
      // The operator's own call shows that the skill could.
      expect(operator.ok, JSON.stringify(operator)).toBe(true);
      expect(body.ok, path).toBe(false);
      expect(JSON.stringify(body)).not.toContain(own.folder);
    }
  });

  test('has no secret, variable or workspace unless the file gives it one', async () => {
    await using own = await new TenantsStage({
      acme: { secrets: [], env: {}, workspace: undefined },
      skills: {
        asks: {
          source:
            'import os\ndef execute(params):\n    return [os.environ.get("OPERATORS"), os.environ.get("API_KEY")]',
          manifest: { env_vars: { OPERATORS: { required: false }, API_KEY: { required: false } } },
        },
        writes: {
          source: 'def execute(params):\n    return open("/workspace/note.txt").read()',
          manifest: { capabilities: { filesystem: [{ path: '${workspace}', access: 'read' }] } },
        },
      },
    }).open();
    await own.approve('test/asks', 'acme');
    await own.approve('test/asks');
    expect((await own.execute('acme', 'test/asks')).body.result).toEqual([null, null]);
    expect((await own.execute('admin', 'test/asks')).body.result).toEqual([
      'only for the operator',
      'key of the operator',
    ]);
    expect((await own.execute('acme', 'test/writes')).body.ok).toBe(false);
  });

  test('is held to its own policy, which narrows the operator policy', async () => {
    await using own = await new TenantsStage({
      skills: { plain: { source: 'def execute(params):\n    return "ran"' } },
      acme: { policy: 'acme.policy.yaml' },
      files: { 'acme.policy.yaml': 'skills: [{ match: "test/*", decision: deny }]' },
    }).open();
    expect((await own.execute('acme', 'test/plain')).body.error?.code).toBe('untrusted');
    expect((await own.execute('umbrella', 'test/plain')).body.result).toBe('ran');
  });

  test('is the tenant of every call that its program makes', async () => {
    await using own = await new TenantsStage({
      skills: {
        notes: {
          source: 'def execute(params):\n    return open("/workspace/note.txt").read()',
          manifest: { capabilities: { filesystem: [{ path: '${workspace}', access: 'read' }] } },
        },
      },
    }).open();
    const json = {
      language: 'typescript',
      source: 'return await skills.test.notes({});',
      skills: ['test/*'],
    };
    for (const as of ['acme', 'umbrella']) {
      const answer = await own.ask('/v1/programs', { method: 'POST', as, json });
      expect(await answer.json()).toMatchObject({ ok: true, result: `file of ${as}` });
    }
  });

  test('sees only the skills that its settings name', async () => {
    const source = 'def execute(params):\n    return "ran"';
    await using own = await new TenantsStage({
      skills: { open: { source }, hidden: { source } },
      acme: { skills: ['test/open'] },
    }).open();
    const list = (await (await own.ask('/v1/skills', { as: 'acme' })).json()) as {
      skills: { name: string }[];
    };
    expect(list.skills.map(({ name }) => name)).toEqual(['test/open']);
    const hidden = await own.execute('acme', 'test/hidden');
    const unknown = await own.execute('acme', 'test/absent');
    expect(hidden.status).toBe(404);
    expect(hidden.body.error?.message.replace('hidden', '')).toBe(
      unknown.body.error?.message.replace('absent', ''),
    );
    expect((await own.execute('umbrella', 'test/hidden')).status).toBe(200);
  });

  test('that the file does not name is not served', async () => {
    expect((await stage.ask('/v1/skills', { as: 'nobody' })).status).toBe(401);
  });
});
