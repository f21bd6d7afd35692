/**
 * Processes that start before it is known which skill they will run.
 *
 * @module
 */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { PoolOptions } from '../../../src/cell/pool/pool.ts';
import type { Outcome, Runtime, Skill } from '../../../src/index.ts';
import { descendants } from '../../runtime/host-state.ts';
import { openFolder, removeFolder, writeSkill } from '../../write-skill.ts';
import { openTestRuntime, type TestRuntime } from '../test-runtime.ts';

const POLL = { interval: 20, timeout: 60_000 };
/** One skill stays warm, so that every other call needs a process. */
const ONE_WARM: PoolOptions = { size: 1, maxStandby: 1 };

const LOOK = `
import os
def execute(params):
    held = sorted(os.path.relpath(os.path.join(at, name), "/skill") for at, _, names in os.walk("/skill") for name in names)
    return {"held": held, "links": os.stat("/skill/skill.py").st_nlink, "saved": os.path.exists("/saved")}
`;
const JS = 'let calls = 0;\nexport const execute = ({ n }) => ({ n, calls: ++calls });\n';
const PYTHON =
  'calls = []\ndef execute(params):\n    calls.append(1)\n    return {"n": params["n"], "calls": len(calls)}\n';

/** Prepares the engines once. */
const shared = openFolder();
const home = join(shared, 'home');
let opened: TestRuntime[] = [];

beforeAll(async () => {
  const { runtime, close } = openTestRuntime({ home });
  const skill = await runtime.load(writeSkill(shared, { source: PYTHON }));
  await runtime.execute(skill, { n: 0 }, { execution: 'wasm' });
  await close();
});
afterAll(() => removeFolder(shared));
beforeEach(() => (opened = []));
afterEach(async () => {
  await Promise.all(opened.map(({ close }) => close()));
  await expect.poll(descendants, POLL).toEqual([]);
  expect(places()).toEqual([]);
});

/** The folders of processes that wait or waited for a skill. */
function places(): string[] {
  const run = join(home, 'run');
  return existsSync(run) ? readdirSync(run).filter((name) => !name.endsWith('.lock')) : [];
}

interface Opened {
  runtime: Runtime;
  python: (source: string, manifest?: Record<string, unknown>) => Promise<Skill>;
  script: (source: string, manifest?: Record<string, unknown>) => Promise<Skill>;
}

function open(pool: PoolOptions = {}): Opened {
  const test = openTestRuntime({ home, pool: { ...ONE_WARM, ...pool } });
  opened.push(test);
  const { runtime, folder } = test;
  return {
    runtime,
    python: (source, manifest) =>
      runtime.load(writeSkill(folder, { source, ...(manifest ? { manifest } : {}) })),
    script: (source, manifest = {}) =>
      runtime.load(
        writeSkill(folder, { manifest: { execution: ['wasm'], ...manifest }, files: { 'skill.js': source } }),
      ),
  };
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended with its parent.
  }
}

let calls = 0;
const call = (runtime: Runtime, skill: Skill): Promise<Outcome> =>
  runtime.execute(skill, { n: ++calls }, { execution: 'wasm', reject: false });

/** Calls new skills until one gets a process that waited; returns what `next` made and its outcome. */
async function untilSpare(runtime: Runtime, next: () => Promise<Skill>): Promise<Outcome> {
  for (let attempt = 0; attempt < 40; attempt++) {
    const outcome = await call(runtime, await next());
    expect(outcome).toMatchObject({ ok: true });
    if (outcome.execution?.start === 'pool') return outcome;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error('No skill got a process that waited');
}

describe('a process without a skill', () => {
  test.each(['python', 'script'] as const)('becomes that of a new one: %s', async (kind) => {
    const { runtime, ...make } = open();
    const source = kind === 'python' ? PYTHON : JS;
    const outcome = await untilSpare(runtime, () => make[kind](source));
    expect(outcome).toMatchObject({ result: { n: calls, calls: 1 } });
  });

  test('then serves further calls, each fresh', async () => {
    const { runtime, script } = open();
    let skill: Skill | undefined;
    await untilSpare(runtime, async () => (skill = await script(JS)));
    for (let again = 0; again < 3; again++)
      expect(await call(runtime, skill as Skill)).toMatchObject({
        result: { n: calls, calls: 1 },
        execution: { start: 'warm' },
      });
  });

  test('shows its skill no more and no other files than a process that started for it', async () => {
    const { runtime, python } = open();
    const cold = await call(runtime, await python(LOOK));
    expect(cold).toMatchObject({ execution: { start: 'cold' } });
    const later = await untilSpare(runtime, () => python(LOOK));
    expect(later.ok && later.result).toEqual(cold.ok && cold.result);
    expect(later).toMatchObject({ result: { links: 1, saved: false } });
  });

  test('has the limits of its skill, and so serves no skill with others', async () => {
    const { runtime, python } = open();
    await untilSpare(runtime, () => python(PYTHON));
    const large = await python(PYTHON, { limits: { memory: '300MiB' } });
    expect(await call(runtime, large)).toMatchObject({ ok: true, execution: { start: 'cold' } });
  });

  test('gives its skill no more memory than a process that started for it', async () => {
    const { runtime, script } = open();
    const source = 'export const execute = ({ mib = 0 }) => new Uint8Array(mib * 2 ** 20).fill(1).length;';
    let skill: Skill | undefined;
    await untilSpare(runtime, async () => (skill = await script(source, { limits: { memory: '64MiB' } })));
    expect(await runtime.execute(skill as Skill, { mib: 32 })).toMatchObject({ result: 32 * 2 ** 20 });
    expect(await runtime.execute(skill as Skill, { mib: 80 }, { reject: false })).toMatchObject({
      error: { code: 'resource_exceeded', detail: { limit: 'memory' } },
    });
  });

  test('is not needed for one skill alone', async () => {
    const { runtime, script } = open({ maxStandby: 8 });
    const skill = await script(JS);
    for (let n = 0; n < 5; n++) await call(runtime, skill);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(places()).toEqual([]);
  });

  test('does not exist if the operator wants none', async () => {
    const { runtime, script } = open({ spares: 0 });
    for (let n = 0; n < 4; n++)
      expect(await call(runtime, await script(JS))).toMatchObject({ execution: { start: 'cold' } });
    expect(places()).toEqual([]);
  });

  test('exists no more often than allowed', async () => {
    const { runtime, script } = open({ spares: 1 });
    for (let n = 0; n < 5; n++) await call(runtime, await script(JS));
    // One that waits, and one of the skill that is warm.
    await new Promise((resolve) => setTimeout(resolve, 1000));
    expect(places().length).toBeLessThanOrEqual(2);
    expect(places().length).toBeGreaterThan(0);
  });

  test('takes no more of the memory than a quarter, however many kinds there are', async () => {
    const { runtime, script } = open({ maxStandby: 1, maxMemory: 256 * 2 ** 20 });
    for (let kind = 0; kind < 4; kind++)
      for (let n = 0; n < 3; n++)
        await call(runtime, await script(JS, { limits: { memory: `${64 + kind}MiB` } }));
    await new Promise((resolve) => setTimeout(resolve, 1000));
    // Two that wait, and one of the skill that is warm.
    expect(places().length).toBeLessThanOrEqual(3);
    expect(places().length).toBeGreaterThan(0);
  });

  test('of one kind does not end those of another one that has no more', async () => {
    const { runtime, script } = open({ maxMemory: 256 * 2 ** 20 });
    const starts: (string | undefined)[] = [];
    // A busy machine may take longer than the pause to start one.
    for (let n = 0; n < 24 && (n < 4 || starts.slice(-4).some((start) => start !== 'pool')); n++) {
      const skill = await script(JS, { limits: { memory: `${64 + (n % 2)}MiB` } });
      starts.push((await call(runtime, skill)).execution?.start);
      await new Promise((resolve) => setTimeout(resolve, 600));
    }
    expect(starts.slice(-4)).toEqual(['pool', 'pool', 'pool', 'pool']);
  });

  test('reports that its skill may have too little memory as a process that started for it', async () => {
    const { runtime, script } = open();
    for (let n = 0; n < 5; n++) {
      const skill = await script(JS, { limits: { memory: '2MiB' } });
      expect(await call(runtime, skill)).toMatchObject({
        error: { code: 'resource_exceeded', detail: { limit: 'memory' } },
      });
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
  });

  test.each([
    ['dies', (): void => descendants().forEach(end)],
    [
      'loses its folder',
      (): void => places().forEach((name) => rmSync(join(home, 'run', name), { recursive: true })),
    ],
  ])('that %s is not missed', async (_, harm) => {
    const { runtime, script } = open();
    await untilSpare(runtime, () => script(JS));
    harm();
    for (let n = 0; n < 3; n++) expect(await call(runtime, await script(JS))).toMatchObject({ ok: true });
  });

  test('that has just died, unnoticed, fails no call', async () => {
    const { runtime, script } = open();
    for (let round = 0; round < 3; round++) {
      await untilSpare(runtime, () => script(JS));
      const next = await script(JS);
      // Time for the next one to wait.
      await new Promise((resolve) => setTimeout(resolve, 500));
      descendants().forEach(end);
      expect(await call(runtime, next)).toMatchObject({ ok: true });
    }
  });
});
