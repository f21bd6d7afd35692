/**
 * The pipeline: what stops a call before anything runs, its outcome, and its receipt.
 *
 * @module
 */
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { SkillError, type ExecuteOptions, type Outcome } from '../src/index.ts';
import { DEFAULT_POLICY } from '../src/policy/operator.ts';
import { createRuntime } from '../src/runtime.ts';
import { openTestRuntime, TEST_ENV } from './cell/test-runtime.ts';
import { writeSkill, type SkillText } from './write-skill.ts';

const { runtime, folder, close } = openTestRuntime({ pool: { size: 0 } });
afterAll(close);

const ADD: SkillText = {
  manifest: {
    parameters: {
      type: 'object',
      properties: { a: { type: 'integer' } },
      required: ['a'],
      additionalProperties: false,
    },
  },
  source: 'def execute(params):\n    return params["a"] + 1\n',
};

function attempt(
  text: SkillText | string,
  params: unknown = {},
  options: ExecuteOptions = {},
): Promise<Outcome> {
  const dir = writeSkill(folder, typeof text === 'string' ? { source: text } : text);
  return runtime.execute(dir, params, { ...options, reject: false });
}

function errorOf(outcome: Outcome): {
  code: string;
  message: string;
  fix: string;
  detail: Record<string, unknown>;
} {
  if (outcome.ok) throw new Error(`It succeeded: ${JSON.stringify(outcome.result)}`);
  return outcome.error;
}

/** Expects an error with this code, and that no cell was chosen. */
function expectNothingRan(outcome: Outcome, code: string): void {
  expect(errorOf(outcome).code).toBe(code);
  expect(outcome.execution).toBeUndefined();
  expect(outcome.usage.wall_ms).toBe(0);
}

describe('execute', () => {
  test('returns the result, where the call ran, and what it used', async () => {
    const outcome = await attempt(ADD, { a: 1 });
    expect(outcome).toMatchObject({
      ok: true,
      result: 2,
      skill: { version: '1.0.0', digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) },
      execution: { mode: 'subprocess', wall: 'jail', engine: 'python', fresh: true, start: 'cold' },
      capabilities: { used: [], denied: [] },
    });
    expect(outcome.call_id).toMatch(/^[0-9A-Z]{26}$/);
    expect(outcome.usage.wall_ms).toBeGreaterThan(0);
    expect(outcome.usage.memory_peak_bytes).toBeGreaterThan(0);
    expect(outcome.warnings.join('\n')).toContain('skill.lock');
  });

  test('throws a SkillError that carries the whole outcome', async () => {
    const dir = writeSkill(folder, { source: 'def execute(params):\n    raise ValueError("no")\n' });
    const thrown: unknown = await runtime.execute(dir, {}).catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(SkillError);
    expect(thrown).toMatchObject({ code: 'skill_error', exitCode: 1, outcome: { ok: false } });
  });

  test('has the variant executeIsolated, which runs in a jail', async () => {
    const outcome = await runtime.executeIsolated(writeSkill(folder, ADD), { a: 2 });
    expect(outcome).toMatchObject({ result: 3, execution: { wall: 'jail' } });
  });

  test('runs a loaded skill unchanged, whatever happens to its folder', async () => {
    const dir = writeSkill(folder, ADD);
    const skill = await runtime.load(dir);
    writeFileSync(join(dir, 'skill.py'), 'def execute(params):\n    return "changed"\n');
    expect(await runtime.execute(skill, { a: 1 })).toMatchObject({ result: 2 });
    rmSync(dir, { recursive: true });
    expect(await runtime.execute(skill, { a: 1 })).toMatchObject({ result: 2 });
  });
});

describe('before a skill runs', () => {
  test.each([
    ['a missing parameter', {}],
    ['a wrong type', { a: 'one' }],
    ['an unknown parameter', { a: 1, b: 2 }],
    ['a value that is not an object', [1]],
    ['a value that is not JSON', { a: 1n }],
    ['an undefined value', undefined],
    ['a value of more than 8 MiB', { a: 1, b: 'x'.repeat(9 << 20) }],
  ])('%s is refused as invalid_params', async (_, params) => {
    expectNothingRan(await attempt(ADD, params), 'invalid_params');
  });

  test('a missing skill is refused as skill_unavailable', async () => {
    const outcome = await runtime.execute('./no/such/skill/here', {}, { reject: false });
    expectNothingRan(outcome, 'skill_unavailable');
  });

  test.each([
    ['network.inside_tls', { capabilities: { network: [{ host: 'example.invalid', methods: ['GET'] }] } }],
    [
      'network.inside_tls',
      {
        capabilities: { network: [{ host: 'example.invalid' }] },
        env_vars: { TEST_DECLARED: { secret: true, hosts: ['example.invalid'] } },
      },
    ],
    [
      'filesystem.max_bytes',
      { capabilities: { filesystem: [{ path: '${workspace}', access: 'read-write', max_bytes: '1MiB' }] } },
    ],
  ])('%s, which cannot be enforced here, is refused as unenforceable', async (field, manifest) => {
    const outcome = await attempt({ manifest, source: ADD.source }, { a: 1 });
    expectNothingRan(outcome, 'unenforceable');
    expect(errorOf(outcome).detail['fields']).toEqual([field]);
    expect(errorOf(outcome).fix).toContain(field);
  });

  test('a required variable that is not set is named', async () => {
    const outcome = await attempt({
      manifest: { env_vars: { TEST_NOT_SET: { required: true } } },
      source: ADD.source,
    });
    expectNothingRan(outcome, 'usage');
    expect(errorOf(outcome).message).toContain('"TEST_NOT_SET"');
  });

  test.each([
    ['container', 'skill_unavailable'],
    ['in_process', 'untrusted'],
  ])('an untrusted skill that wants to run %s is refused: %s', async (execution, code) => {
    expectNothingRan(await attempt({ manifest: { execution }, source: ADD.source }, { a: 1 }), code);
  });

  test('code that imports what the manifest does not cover is refused as manifest_drift', async () => {
    const outcome = await attempt('import socket\ndef execute(params):\n    return 1\n');
    expectNothingRan(outcome, 'manifest_drift');
    expect(errorOf(outcome).message).toMatch(/"socket" \(skill\.py:1\)/);
  });

  test('a legacy manifest without capabilities loads with a warning instead', async () => {
    const source = 'import socket\ndef execute(params):\n    return 1\n';
    const outcome = await attempt({ manifest: { capabilities: undefined }, source });
    expect(outcome).toMatchObject({ ok: true });
    expect(outcome.warnings.join('\n')).toContain('socket');
  });

  test('invalid Python source is refused as manifest_drift, with its location', async () => {
    const outcome = await attempt('def execute(params:\n');
    expectNothingRan(outcome, 'manifest_drift');
    expect(errorOf(outcome).message).toContain('skill.py');
  });

  test('an operator ceiling takes precedence over the manifest', async () => {
    const strict = openTestRuntime({
      pool: { size: 0 },
      policy: { ...DEFAULT_POLICY, ceilings: { ...DEFAULT_POLICY.ceilings, timeout: 500 } },
    });
    try {
      const source = 'import time\ndef execute(params):\n    time.sleep(30)\n';
      const dir = writeSkill(strict.folder, { manifest: { limits: { timeout: '60s' } }, source });
      const outcome = await strict.runtime.execute(dir, {}, { reject: false });
      expect(errorOf(outcome).detail).toEqual({ limit: 'timeout', allowed: 500 });
    } finally {
      await strict.close();
    }
  });
});

describe('a lock', () => {
  test('makes a bundle locked, and one changed byte is drift, with the file in the error', async () => {
    const dir = writeSkill(folder, { ...ADD, files: { 'data/words.txt': 'one' } });
    expect((await runtime.load(dir)).bundle.lock).toBe('unlocked');
    await runtime.lock(dir);
    expect((await runtime.load(dir)).bundle.lock).toBe('locked');
    const locked = await runtime.execute(dir, { a: 1 });
    expect(locked.warnings).toEqual([]);
    appendFileSync(join(dir, 'data/words.txt'), '!');
    const outcome = await runtime.execute(dir, { a: 1 }, { reject: false });
    expectNothingRan(outcome, 'manifest_drift');
    expect(errorOf(outcome)).toMatchObject({
      message: expect.stringContaining('data/words.txt'),
      detail: { changed: ['data/words.txt'], missing: [], unlisted: [] },
    });
  });

  test.each([
    ['an additional file', (dir: string) => writeFileSync(join(dir, 'extra.py'), ''), 'unlisted', 'extra.py'],
    ['a missing file', (dir: string) => rmSync(join(dir, 'note.txt')), 'missing', 'note.txt'],
  ] as const)('reports drift for %s', async (...row) => {
    const [, change, kind, name] = row;
    const dir = writeSkill(folder, { ...ADD, files: { 'note.txt': 'x' } });
    await runtime.lock(dir);
    change(dir);
    const outcome = await runtime.execute(dir, { a: 1 }, { reject: false });
    expect(errorOf(outcome)).toMatchObject({ code: 'manifest_drift', detail: { [kind]: [name] } });
  });
});

describe('receipts', () => {
  test('exist once for every call, however it ended, in an intact chain', async () => {
    const own = openTestRuntime({ pool: { size: 0 }, caller: 'a test' });
    try {
      const skill = writeSkill(own.folder, {
        source: `
          import time
          def execute(params):
              if params.get("read"):
                  open(params["read"])
              time.sleep(params.get("sleep", 0))
              return "private result"
        `,
      });
      const call = (ref: string, params: unknown, timeout?: number): Promise<Outcome> =>
        own.runtime.execute(ref, params, { reject: false, ...(timeout === undefined ? {} : { timeout }) });
      const calls = [
        await call(skill, { note: 'private parameter' }),
        await call(skill, { read: '/etc/passwd' }),
        await call(skill, { sleep: 60 }, 600),
        await call(join(own.folder, 'nowhere'), {}),
      ];
      const receipts = own.runtime.audit
        .list()
        .map(({ receipt }) => receipt)
        .reverse();
      expect(receipts.map(({ call_id }) => call_id)).toEqual(calls.map(({ call_id }) => call_id));
      expect(receipts).toMatchObject([
        { code: 'ok', caller: 'a test', lock: 'unlocked', execution: { mode: 'subprocess' } },
        { code: 'capability_denied', denied_count: 1, denied: [{ asked: 'read /etc/passwd' }] },
        { code: 'resource_exceeded', limit: 'timeout' },
        { code: 'skill_unavailable' },
      ]);
      expect(JSON.stringify(receipts)).not.toContain('private');
      expect(own.runtime.audit.verify()).toMatchObject({ ok: true, count: 4 });
    } finally {
      await own.close();
    }
  });

  test('keep content if the operator asks for it', async () => {
    const own = openTestRuntime({ pool: { size: 0 }, audit: { keepContent: true } });
    try {
      await own.runtime.execute(writeSkill(own.folder, ADD), { a: 41 });
      expect(own.runtime.audit.list()[0]?.receipt).toMatchObject({ params: { a: 41 }, result: 42 });
    } finally {
      await own.close();
    }
  });

  test('are missing in a runtime without a log, which still runs and reports it', async () => {
    const own = openTestRuntime({ pool: { size: 0 }, audit: false });
    try {
      expect(await own.runtime.execute(writeSkill(own.folder, ADD), { a: 1 })).toMatchObject({ result: 2 });
      expect(() => own.runtime.audit).toThrow(/switched off/);
    } finally {
      await own.close();
    }
  });
});

describe('a home', () => {
  test('that exists and is private to its owner works', async () => {
    const home = join(folder, 'private-home');
    mkdirSync(home, { mode: 0o700 });
    const own = createRuntime({ home, cwd: folder, env: TEST_ENV, allowEnv: 'all', pool: { size: 0 } });
    try {
      expect(await own.execute(writeSkill(folder, ADD), { a: 1 })).toMatchObject({ result: 2 });
    } finally {
      await own.close();
    }
  });

  test('can be shared by two runtimes', async () => {
    const home = join(folder, 'shared-home');
    const two = [0, 1].map(() =>
      createRuntime({ home, cwd: folder, env: TEST_ENV, allowEnv: 'all', pool: { size: 0 } }),
    );
    const skill = writeSkill(folder, ADD);
    try {
      const outcomes = await Promise.all(
        two.flatMap((one) => [0, 1, 2].map((a) => one.execute(skill, { a }))),
      );
      expect(outcomes.map((outcome) => outcome.ok && outcome.result)).toEqual([1, 2, 3, 1, 2, 3]);
      // A receipt of the other runtime becomes visible a moment later.
      await expect.poll(() => two[0]?.audit.verify()).toMatchObject({ ok: true, count: 6 });
    } finally {
      await Promise.all(two.map((one) => one.close()));
    }
  });
});
