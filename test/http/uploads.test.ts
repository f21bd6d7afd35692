/**
 * Skills that tenants upload: what is accepted, who sees them, and what runs before the operator decided.
 */
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SkillText } from '../write-skill.ts';
import { archiveOf, TenantsStage } from './tenants-stage.ts';

const OWN = { uploads: { skills: 3, bytes: '256KiB', size: '128KiB' } };
const TOOL: SkillText = { id: 'own/tool', source: 'def execute(params):\n    return "uploaded"' };

let stage: TenantsStage;

beforeAll(async () => {
  const plain = { source: 'def execute(params):\n    return "of the operator"' };
  stage = await new TenantsStage({ skills: { plain }, acme: OWN, umbrella: OWN }).open();
});
afterAll(() => stage[Symbol.asyncDispose]());

const namesOf = async (as: string): Promise<string[]> => {
  const { skills } = (await (await stage.ask('/v1/skills', { as })).json()) as { skills: { name: string }[] };
  return skills.map(({ name }) => name);
};
const errorOf = async (answer: Response): Promise<[number, string, string]> => {
  const { error } = (await answer.json()) as { error: { code: string; message: string } };
  return [answer.status, error.code, error.message];
};

describe('an upload', () => {
  test('stays in quarantine until exactly it is approved, and runs nothing before', async () => {
    const marker = join(stage.folder, 'work/acme/ran.txt');
    const source = `
      open("/workspace/ran.txt", "w").close()
      def execute(params):
          return "ran"
    `;
    const files = { capabilities: { filesystem: [{ path: '${workspace}', access: 'read-write' }] } };
    const text = { id: 'own/marks', source, manifest: { execution: ['subprocess'], ...files } };
    const answer = await stage.upload('acme', text);
    expect(answer.status).toBe(201);
    expect(await answer.json()).toMatchObject({ name: 'own/marks', state: 'quarantined' });
    expect((await stage.execute('acme', 'own/marks')).body.error?.code).toBe('approval_required');
    await stage.ask('/v1/skills/own/marks', { as: 'acme' });
    expect(existsSync(marker)).toBe(false);
    expect(await stage.approve('own/marks', 'acme')).toBe(200);
    expect((await stage.execute('acme', 'own/marks')).body.result).toBe('ran');
    expect(existsSync(marker)).toBe(true);
    // Other bytes need another approval.
    await stage.upload('acme', { ...text, source: `${source}\n      # changed\n` });
    await expect
      .poll(async () => (await stage.execute('acme', 'own/marks')).body.error?.code)
      .toBe('approval_required');
  });

  test('is seen by its tenant alone, also under an id that another tenant has', async () => {
    await stage.upload('acme', TOOL);
    expect(await namesOf('acme')).toContain('own/tool');
    expect(await namesOf('umbrella')).not.toContain('own/tool');
    expect(await namesOf('admin')).not.toContain('own/tool');
    await stage.approve('own/tool', 'acme');
    expect((await stage.execute('acme', 'own/tool')).body.result).toBe('uploaded');
    const unknown = await stage.execute('umbrella', 'own/none');
    const foreign = await stage.execute('umbrella', 'own/tool');
    expect(JSON.stringify(foreign.body).replaceAll('own/tool', 'own/none')).toBe(
      JSON.stringify(unknown.body),
    );
    expect(foreign.status).toBe(unknown.status);
    const source = 'def execute(params):\n    return "of umbrella"';
    expect((await stage.upload('umbrella', { ...TOOL, source })).status).toBe(201);
    await stage.approve('own/tool', 'umbrella');
    expect((await stage.execute('umbrella', 'own/tool')).body.result).toBe('of umbrella');
    expect((await stage.execute('acme', 'own/tool')).body.result).toBe('uploaded');
    expect((await stage.ask('/v1/skills/own/tool', { method: 'DELETE', as: 'umbrella' })).status).toBe(200);
    expect((await stage.ask('/v1/skills/own/tool', { method: 'DELETE', as: 'umbrella' })).status).toBe(404);
    expect((await stage.execute('acme', 'own/tool')).body.result).toBe('uploaded');
  });

  test('never takes an id of the operator, now or later', async () => {
    const [status, code] = await errorOf(await stage.upload('acme', { ...TOOL, id: 'test/plain' }));
    expect([status, code]).toEqual([409, 'manifest_invalid']);
    // Bundled skills have ids too, although they are not offered here.
    expect((await stage.upload('acme', { ...TOOL, id: 'optimization/prompt_rewriter' })).status).toBe(409);
    expect((await stage.execute('acme', 'test/plain')).body.result).toBe('of the operator');
  });

  test('is not allowed by a rule for a name, which every tenant can give its skill', async () => {
    await using own = await new TenantsStage({
      acme: OWN,
      umbrella: { ...OWN, policy: 'deny.yaml' },
      policy: 'skills: [{ match: "own/*", decision: allow }]',
      files: { 'deny.yaml': 'skills: [{ match: "*", decision: deny }]' },
    }).open();
    expect(await (await own.upload('acme', TOOL)).json()).toMatchObject({ state: 'quarantined' });
    expect((await own.execute('acme', 'own/tool')).body.error?.code).toBe('approval_required');
    const [status, code] = await errorOf(await own.upload('umbrella', TOOL));
    expect([status, code]).toEqual([403, 'untrusted']);
    expect(readdirSync(join(own.folder, 'home/tenants/umbrella/uploads'))).toEqual([]);
  });

  test('is allowed at once by a rule for all skills, and refused without a signature that a rule requires', async () => {
    await using open = await new TenantsStage({
      acme: OWN,
      policy: 'skills: [{ match: "*", decision: allow }]',
    }).open();
    expect(await (await open.upload('acme', TOOL)).json()).toMatchObject({ state: 'allowed' });
    expect((await open.execute('acme', 'own/tool')).body.result).toBe('uploaded');
    open.policy = (await import('../../src/index.ts')).parsePolicy(
      'skills: [{ match: "*", decision: allow, require_signature: true }]',
      { file: 'policy.yaml' },
    );
    const [status, code] = await errorOf(await open.upload('acme', { ...TOOL, id: 'own/second' }));
    expect([status, code]).toEqual([403, 'signature_invalid']);
    expect((await open.execute('acme', 'own/tool')).body.error?.code).toBe('signature_invalid');
  });

  test('needs the scope, and a tenant that may upload', async () => {
    await using own = await new TenantsStage().open();
    expect((await errorOf(await own.upload('acme', TOOL))).slice(0, 2)).toEqual([403, 'untrusted']);
    expect((await own.upload('prometheus', TOOL)).status).toBe(403);
    expect((await own.upload('admin', TOOL)).status).toBe(403);
    expect((await own.upload('nobody', TOOL)).status).toBe(401);
  });
});

describe('the caps of uploads', () => {
  test('bound the archive, the files, their number, and what stays', async () => {
    await using own = await new TenantsStage({ acme: { uploads: { ...OWN.uploads, size: '64KiB' } } }).open();
    const big = (id: string, bytes: number): SkillText => ({
      ...TOOL,
      id,
      files: { 'data.txt': 'x'.repeat(bytes) },
    });
    // Random bytes do not compress.
    const noise = Array.from({ length: 12_000 }, () => Math.random().toString(36).slice(2)).join('\n');
    const tooLarge = await errorOf(await own.upload('acme', { ...TOOL, files: { 'noise.txt': noise } }));
    expect(tooLarge.slice(0, 2)).toEqual([409, 'manifest_invalid']);
    expect(tooLarge[2]).toContain('more than 65536 bytes');
    const bomb = await errorOf(await own.upload('acme', big('own/bomb', 8 * 1024 ** 2)));
    expect(bomb[2]).toContain('more than 262144 bytes');
    expect((await own.upload('acme', big('own/a', 120_000))).status).toBe(201);
    expect((await own.upload('acme', big('own/b', 120_000))).status).toBe(201);
    const full = await errorOf(await own.upload('acme', big('own/c', 120_000)));
    expect(full.slice(0, 2)).toEqual([422, 'resource_exceeded']);
    expect((await own.upload('acme', big('own/c', 10))).status).toBe(201);
    expect((await errorOf(await own.upload('acme', big('own/d', 10))))[1]).toBe('resource_exceeded');
    // Replacing one is always possible within the bytes, and leaves nothing behind.
    expect((await own.upload('acme', big('own/a', 20))).status).toBe(201);
    const kept = readdirSync(join(own.folder, 'home/tenants/acme/uploads'));
    expect(kept.filter((name) => name.endsWith('.json'))).toHaveLength(3);
    expect(kept).toHaveLength(6);
  });

  test.each<[string, () => Buffer]>([
    ['nothing', () => Buffer.alloc(0)],
    ['no archive', () => Buffer.from('<html>'.repeat(200))],
    ['half an archive', () => archiveOf(TOOL).subarray(0, 60)],
    ['an archive without a skill', () => archiveOf({ ...TOOL, manifest: { name: undefined } })],
    ['a manifest that is not valid', () => archiveOf({ ...TOOL, manifest: { limits: { timeout: 'soon' } } })],
    ['a name that is a path', () => archiveOf({ ...TOOL, id: 'own/tool', manifest: { name: '../../evil' } })],
  ])('refuse %s and keep nothing of it', async (_, make) => {
    const before = listing();
    const [status, code, message] = await errorOf(await stage.put('acme', make()));
    expect([status, code]).toEqual([409, 'manifest_invalid']);
    expect(message).not.toContain(stage.folder);
    expect(listing()).toEqual(before);
  });

  test('let one upload of a tenant in at a time, and those of others meanwhile', async () => {
    const archive = archiveOf({ ...TOOL, id: 'own/slow' });
    const gate = Promise.withResolvers<void>();
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new Uint8Array(archive.subarray(0, 20))),
      pull: async (controller) => {
        await gate.promise;
        controller.enqueue(new Uint8Array(archive.subarray(20)));
        controller.close();
      },
    });
    const headers = { authorization: `Bearer ${stage.tokens['acme']}` };
    const init = { method: 'PUT', headers, body, duplex: 'half' };
    const slow = fetch(`${stage.running.url}/v1/skills`, init as RequestInit);
    await expect.poll(async () => (await stage.upload('acme', TOOL)).status).toBe(429);
    expect((await stage.upload('umbrella', { ...TOOL, id: 'own/fast' })).status).toBe(201);
    gate.resolve();
    expect((await slow).status).toBe(201);
  });
});

function listing(): string[] {
  const folder = join(stage.folder, 'home/tenants/acme/uploads');
  mkdirSync(folder, { recursive: true });
  return readdirSync(folder, { recursive: true }).map(String).toSorted();
}
