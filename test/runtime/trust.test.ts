/**
 * Rules, signatures, approvals and guards before a real call.
 *
 * @module
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import {
  createRuntime,
  parsePolicy,
  type Outcome,
  type Runtime,
  type RuntimeOptions,
} from '../../src/index.ts';
import { formatSignatures, makeKeyPair, signLock } from '../../src/trust/signature.ts';
import { openFolder, removeFolder, writeSkill, type SkillText } from '../write-skill.ts';

const folder = openFolder();
const runtimes: Runtime[] = [];
afterAll(async () => {
  await Promise.all(runtimes.map((runtime) => runtime.close()));
  removeFolder(folder);
});

const ECHO: SkillText = { source: 'def execute(params):\n    return params\n' };

function open(policy: string, options: RuntimeOptions = {}): Runtime {
  const runtime = createRuntime({
    home: join(folder, `home-${runtimes.length}`),
    cwd: folder,
    pool: { size: 0 },
    policy: parsePolicy(policy, { file: 'p.yaml' }),
    ...options,
  });
  runtimes.push(runtime);
  return runtime;
}

function codeOf(outcome: Outcome): string {
  return outcome.ok ? 'ok' : outcome.error.code;
}

const ASK = 'skills: [{ match: "test/*", decision: ask }]';
const SIGNED = 'skills: [{ match: "test/*", decision: allow, require_signature: true }]';

async function call(runtime: Runtime, dir: string, params: unknown = {}): Promise<Outcome> {
  return runtime.execute(dir, params, { reject: false });
}

describe('a rule by name', () => {
  test('denies before anything runs and is named in the error', async () => {
    const outcome = await call(
      open('skills: [{ match: "test/*", decision: deny }]'),
      writeSkill(folder, ECHO),
    );
    expect(outcome).toMatchObject({ ok: false, error: { code: 'untrusted', detail: { rule: 'test/*' } } });
    expect(outcome.execution).toBeUndefined();
  });

  test('does not affect other skills', async () => {
    const runtime = open('skills: [{ match: "other/*", decision: deny }]');
    expect(codeOf(await call(runtime, writeSkill(folder, ECHO)))).toBe('ok');
  });
});

describe('warming up', () => {
  test('is refused if a call would be', async () => {
    const denied = open('skills: [{ match: "test/*", decision: deny }]', { pool: { size: 1 } });
    const loaded = await denied.load(writeSkill(folder, ECHO));
    await expect(denied.warm(loaded)).rejects.toMatchObject({ code: 'untrusted' });

    const asked = open(ASK, { pool: { size: 1 } });
    const skill = await asked.load(writeSkill(folder, ECHO));
    await expect(asked.warm(skill)).rejects.toMatchObject({ code: 'approval_required' });
    asked.approvals.add(skill.bundle, 'test');
    await asked.warm(skill);

    const signed = open(SIGNED, { pool: { size: 1 } });
    const unsigned = await signed.load(writeSkill(folder, ECHO));
    await expect(signed.warm(unsigned)).rejects.toMatchObject({ code: 'signature_invalid' });
  });
});

describe('a skill that needs an approval', () => {
  test('runs once approved, and no longer after a capability changed', async () => {
    const runtime = open(ASK);
    const dir = writeSkill(folder, ECHO);
    expect(await call(runtime, dir)).toMatchObject({
      ok: false,
      error: {
        code: 'approval_required',
        message: expect.stringContaining('it has not been approved') as string,
      },
    });
    runtime.approvals.add((await runtime.load(dir)).bundle, 'test');
    expect(codeOf(await call(runtime, dir))).toBe('ok');
    const manifest = JSON.parse(readFileSync(join(dir, 'manifest.yaml'), 'utf8')) as object;
    const wider = { ...manifest, capabilities: { filesystem: [{ path: '${workspace}', access: 'read' }] } };
    writeFileSync(join(dir, 'manifest.yaml'), JSON.stringify(wider));
    expect(await call(runtime, dir)).toMatchObject({
      ok: false,
      error: { code: 'approval_required', detail: { diff: ['+ filesystem read ${workspace}'] } },
    });
  });

  test('prompts a person with what it asks for, and the answer is remembered', async () => {
    const asked: string[][] = [];
    const askPerson = (question: { lines: string[] }): Promise<boolean> => {
      asked.push(question.lines);
      return Promise.resolve(asked.length > 1);
    };
    const runtime = open(ASK, { askPerson });
    const dir = writeSkill(folder, ECHO);
    expect(codeOf(await call(runtime, dir))).toBe('approval_required');
    expect(codeOf(await call(runtime, dir))).toBe('ok');
    expect(codeOf(await call(runtime, dir))).toBe('ok');
    expect(asked).toHaveLength(2);
    expect(asked[0]?.join(' ')).toContain('cannot access your files');
  });

  test('that was approved and swapped after it was loaded still runs the loaded bytes', async () => {
    const runtime = open(ASK);
    const dir = writeSkill(folder, ECHO);
    const skill = await runtime.load(dir);
    runtime.approvals.add(skill.bundle, 'test');
    writeFileSync(join(dir, 'skill.py'), 'def execute(params):\n    return "swapped"\n');
    expect(await runtime.execute(skill, { a: 1 })).toMatchObject({ result: { a: 1 } });
    expect(codeOf(await call(runtime, dir))).toBe('approval_required');
  });
});

describe('a required signature', () => {
  const { privateKey, publicKey } = makeKeyPair();
  const policy = `${SIGNED}\npublishers: [{ name: acme, key: "${publicKey}" }]`;

  async function signed(key: string): Promise<{ runtime: Runtime; dir: string }> {
    const runtime = open(policy);
    const dir = writeSkill(folder, ECHO);
    const lock = readFileSync(await runtime.lock(dir));
    const signatures = formatSignatures({ version: 1, signatures: [signLock(lock, key)] });
    writeFileSync(join(dir, 'skill.sig'), signatures);
    return { runtime, dir };
  }

  test('from a trusted publisher lets the skill run', async () => {
    const { runtime, dir } = await signed(privateKey);
    expect(codeOf(await call(runtime, dir))).toBe('ok');
  });

  test('from anyone else does not let the skill run', async () => {
    const { runtime, dir } = await signed(makeKeyPair().privateKey);
    expect(await call(runtime, dir)).toMatchObject({ ok: false, error: { code: 'signature_invalid' } });
  });

  test('is reported as missing for an unsigned and for an unlocked bundle', async () => {
    const { runtime, dir } = await signed(privateKey);
    rmSync(join(dir, 'skill.sig'));
    expect(codeOf(await call(runtime, dir))).toBe('signature_invalid');
    expect(codeOf(await call(runtime, writeSkill(folder, ECHO)))).toBe('signature_invalid');
  });

  test('does not cover a new lock and new code', async () => {
    const { runtime, dir } = await signed(privateKey);
    writeFileSync(join(dir, 'skill.py'), 'def execute(params):\n    return "other"\n');
    await runtime.lock(dir);
    expect(codeOf(await call(runtime, dir))).toBe('signature_invalid');
  });

  test('stays valid for the installed copy', async () => {
    const { runtime, dir } = await signed(privateKey);
    const { bundle } = await runtime.install(dir, { global: true });
    rmSync(dir, { recursive: true });
    expect(codeOf(await call(runtime, bundle.manifest.name))).toBe('ok');
  });
});

describe('a guard', () => {
  const policy =
    'guard: [{ arguments: [{ path: $.amount, above: 100 }], decision: deny, reason: more than 100 }]';

  test('in the policy decides by the arguments', async () => {
    const runtime = open(policy);
    const dir = writeSkill(folder, ECHO);
    expect(codeOf(await call(runtime, dir, { amount: 100 }))).toBe('ok');
    expect(await call(runtime, dir, { amount: 101 })).toMatchObject({
      ok: false,
      error: { code: 'untrusted', message: expect.stringContaining('more than 100') as string },
    });
  });

  test('in the library can be stricter than the policy, but never laxer', async () => {
    const seen: unknown[] = [];
    const guard: RuntimeOptions['guard'] = (proposal) => {
      seen.push(proposal);
      return { decision: proposal.caller === 'agent' ? 'ask' : 'allow', reasons: ['an agent calls'] };
    };
    const dir = writeSkill(folder, ECHO);
    expect(codeOf(await call(open(policy, { guard, caller: 'agent' }), dir))).toBe('approval_required');
    expect(codeOf(await call(open(policy, { guard, caller: 'cli' }), dir))).toBe('ok');
    expect(codeOf(await call(open(policy, { guard, caller: 'cli' }), dir, { amount: 101 }))).toBe(
      'untrusted',
    );
    expect(seen[0]).toMatchObject({ caller: 'agent', arguments: {}, capabilities: [] });
  });

  test('records its decision and its reasons in the receipt', async () => {
    const guard: RuntimeOptions['guard'] = () => ({ decision: 'allow', reasons: ['within the budget'] });
    const runtime = open(policy, { guard });
    const dir = writeSkill(folder, ECHO);
    const { call_id: allowed } = await call(runtime, dir);
    expect(runtime.audit.show(allowed)?.receipt).toMatchObject({
      decision: { decision: 'allow', reasons: ['within the budget'] },
    });
    const { call_id: denied } = await call(runtime, dir, { amount: 101 });
    expect(runtime.audit.show(denied)?.receipt).toMatchObject({
      code: 'untrusted',
      message: expect.stringContaining('more than 100') as string,
    });
  });
});
