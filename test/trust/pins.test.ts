/**
 * An approval also covers what is not in the bundle: the image behind a tag, and the wheels behind a requirement.
 *
 * @module
 */
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { createImageStore } from '../../src/cell/images/store.ts';
import { createRuntime, type Outcome, type Runtime } from '../../src/index.ts';
import { parsePolicy } from '../../src/policy/operator.ts';
import { addImage } from '../cell/images/helpers.ts';
import { addWheel, useIndex } from '../cell/engines/python/local-index.ts';
import { openTestRuntime } from '../cell/test-runtime.ts';
import { writeSkill } from '../write-skill.ts';

const policy = parsePolicy('skills: [{ match: "*", decision: ask }]', { file: 'policy of the test' });
const { runtime, folder, close } = openTestRuntime({ policy });
afterAll(close);

async function approve(dir: string): Promise<void> {
  runtime.approvals.add((await runtime.load(dir)).bundle, 'somebody');
}

const call = (ref: Parameters<Runtime['execute']>[0], at: Runtime = runtime): Promise<Outcome> =>
  at.execute(ref, {}, { reject: false });
const codeOf = (outcome: Outcome): string => (outcome.ok ? 'ok' : outcome.error.code);

describe('an image behind a tag', () => {
  const images = createImageStore({ home: join(folder, 'home') });
  const TAG = 'localhost/pinned:1';
  const dir = writeSkill(folder, {
    id: 'test/tagged',
    manifest: { execution: 'container', container: { image: TAG } },
  });

  /** Points the tag at a different image without a program, so that an admitted call fails later. */
  async function moveTag(text: string): Promise<string> {
    const digest = await addImage(images, [{ name: 'text', text }]);
    await images.name(TAG, digest);
    return digest;
  }

  test('is approved by its digest, and a moved tag needs a new approval', async () => {
    const approved = await moveTag('approved');
    const skill = await runtime.load(dir);
    await approve(dir);
    expect(runtime.approvals.ofSkill('test/tagged')[0]?.capabilities).toContain(
      `container digest ${approved}`,
    );
    expect(codeOf(await call(dir))).not.toBe('approval_required');
    const moved = await moveTag('moved');
    for (const ref of [dir, skill]) {
      const outcome = await call(ref);
      expect(outcome).toMatchObject({ ok: false, error: { code: 'approval_required' } });
      expect(outcome.ok || outcome.error.detail['diff']).toEqual([
        `+ container digest ${moved}`,
        `- container digest ${approved}`,
      ]);
    }
    expect((await runtime.standing(skill)).approval.kind).toBe('changed');
    await images.name(TAG, approved);
    expect(codeOf(await call(skill))).not.toBe('approval_required');
  });

  test('needs a new approval if it is pulled only after the approval', async () => {
    const later = writeSkill(folder, {
      id: 'test/later',
      manifest: { execution: 'container', container: { image: 'localhost/later:1' } },
    });
    await approve(later);
    expect(codeOf(await call(later))).toBe('skill_unavailable');
    await images.name('localhost/later:1', await addImage(images, [{ name: 'text', text: 'later' }]));
    expect(codeOf(await call(later))).toBe('approval_required');
  });

  test('is the inspected one, even if the tag is moved during a call', async () => {
    const first = await moveTag('looked at');
    const { bundle } = await runtime.load(dir);
    await moveTag('moved during the call');
    expect(await images.resolve(bundle.manifest.container!, bundle)).toMatchObject({ digest: first });
  });
});

describe('packages behind requirements', () => {
  const index = join(folder, 'index');
  const environments = join(folder, 'home', 'environments');
  const SOURCE = 'import greeting\ndef execute(params):\n    return greeting.WORD\n';
  const write = (mode: string): string =>
    writeSkill(folder, {
      id: `test/greets_in_${mode}`,
      source: SOURCE,
      manifest: { requirements: ['greeting'], execution: mode },
    });

  async function install(dir: string, word: string): Promise<void> {
    rmSync(environments, { recursive: true, force: true });
    addWheel(index, 'greeting', `WORD = "${word}"\n`);
    useIndex(index);
    await runtime.install(dir, { replace: true });
  }

  test.each([
    ['subprocess', 'python'],
    ['wasm', 'python-wasm'],
  ] as const)(
    'are approved and recorded for %s, and another resolution needs a new approval',
    async (mode, engine) => {
      const dir = write(mode);
      await install(dir, 'hello');
      await approve(dir);
      const { bundle } = await runtime.load(dir);
      const { digest, packages } = bundle.pins?.packages?.[engine] ?? {};
      expect(packages).toMatchObject([{ name: 'greeting', version: '1.0' }]);
      const outcome = await call(dir);
      expect(outcome).toMatchObject({ ok: true, result: 'hello', execution: { engine, packages: digest } });
      const [receipt] = runtime.audit.list({ limit: 1 });
      expect(receipt?.receipt.execution).toMatchObject({ packages: digest });
      await install(dir, 'something else');
      const other = await call(dir);
      expect(other).toMatchObject({ ok: false, error: { code: 'approval_required' } });
      expect(other.ok || other.error.message).toMatch(
        new RegExp(
          `\\+ package ${engine} greeting 1\\.0 sha256:.*- package ${engine} greeting 1\\.0 sha256:`,
        ),
      );
      await approve(dir);
      expect(await call(dir)).toMatchObject({ ok: true, result: 'something else' });
    },
  );

  test('are planned in their current state, even for a skill that was loaded before they were installed', async () => {
    const dir = write('subprocess');
    rmSync(environments, { recursive: true, force: true });
    const loaded = await runtime.load(dir);
    await expect(runtime.plan(loaded)).rejects.toMatchObject({ code: 'skill_unavailable' });
    await install(dir, 'hello');
    const { digest } = (await runtime.load(dir)).bundle.pins?.packages?.python ?? {};
    expect(digest).toBeDefined();
    expect((await runtime.plan(loaded)).uses).toEqual({ packages: digest });
    expect((await runtime.choose(loaded)).candidate.mode).toBe('subprocess');
  });

  test.each(['subprocess', 'wasm'])('are not used for %s if one of their files was changed', async (mode) => {
    const dir = write(mode);
    await install(dir, 'hello');
    await approve(dir);
    for (const name of readdirSync(environments))
      writeFileSync(join(environments, name, 'packages', 'greeting.py'), 'WORD = "swapped"\n');
    await using another = createRuntime({ home: join(folder, 'home'), cwd: folder, policy, audit: false });
    const outcome = await call(dir, another);
    expect(outcome).toMatchObject({ ok: false, error: { code: 'manifest_drift' } });
    expect(outcome.ok || outcome.error.fix).toContain(`skillcell install ${dir}`);
    useIndex(index);
    await another.install(dir);
    expect(await call(dir, another)).toMatchObject({ ok: true, result: 'hello' });
  });
});
