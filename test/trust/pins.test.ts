/**
 * An approval also holds for what is no file of the bundle: the image behind a tag, and the wheels behind a requirement.
 *
 * @module
 */
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { createImageStore } from '../../src/cell/container/images/store.ts';
import { createRuntime, type Outcome, type Runtime } from '../../src/index.ts';
import { parsePolicy } from '../../src/policy/operator.ts';
import { addImage } from '../cell/container-images/helpers.ts';
import { addWheel, useIndex } from '../cell/python/local-index.ts';
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

  /** Makes the tag mean an image of its own, which has no program: a call that is let through gets no further. */
  async function moveTag(text: string): Promise<string> {
    const digest = await addImage(images, [{ name: 'text', text }]);
    await images.name(TAG, digest);
    return digest;
  }

  test('is approved with its digest, and a moved tag asks again', async () => {
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

  test('is asked about again when it only comes after the approval', async () => {
    const later = writeSkill(folder, {
      id: 'test/later',
      manifest: { execution: 'container', container: { image: 'localhost/later:1' } },
    });
    await approve(later);
    expect(codeOf(await call(later))).toBe('skill_unavailable');
    await images.name('localhost/later:1', await addImage(images, [{ name: 'text', text: 'later' }]));
    expect(codeOf(await call(later))).toBe('approval_required');
  });

  test('is the one that was looked at, also if the tag is moved in the middle of a call', async () => {
    const first = await moveTag('looked at');
    const { bundle } = await runtime.load(dir);
    await moveTag('moved meanwhile');
    expect(await images.resolve(bundle.manifest.container!, bundle)).toMatchObject({ digest: first });
  });
});

describe('the packages behind requirements', () => {
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
    'are approved and receipted in %s, and another resolution asks again',
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
    180_000,
  );

  test('are planned with as they are now, also for a skill that was loaded before they were installed', async () => {
    const dir = write('subprocess');
    rmSync(environments, { recursive: true, force: true });
    const loaded = await runtime.load(dir);
    await expect(runtime.plan(loaded)).rejects.toMatchObject({ code: 'skill_unavailable' });
    await install(dir, 'hello');
    const { digest } = (await runtime.load(dir)).bundle.pins?.packages?.python ?? {};
    expect(digest).toBeDefined();
    expect((await runtime.plan(loaded)).artifact.uses).toEqual({ packages: digest });
    expect((await runtime.choose(loaded)).candidate.mode).toBe('subprocess');
  }, 180_000);

  test.each(['subprocess', 'wasm'])(
    'are not used in %s when somebody changed a file of them',
    async (mode) => {
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
    },
    180_000,
  );
});
