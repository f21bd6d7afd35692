/**
 * What counts towards the memory that waiting cells may take, and whom it costs its cells.
 *
 * @module
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { PoolOptions } from '../../../src/cell/pool/pool.ts';
import type { Runtime, Skill } from '../../../src/index.ts';
import { writeSkill } from '../../write-skill.ts';
import { openTestRuntime, type TestRuntime } from '../test-runtime.ts';

const MIB = 1024 * 1024;
/** Longer than the pool waits before it weighs cells again. */
const NEXT_WEIGHING_MS = 1200;
const POOL: PoolOptions = { size: 1, spares: 0, maxMemory: 128 * MIB };
const SMALL = 'export const execute = () => 1;';
const HOLDS = `
export async function execute({ mib = 0 }) {
  const held = new Uint8Array(mib * 2 ** 20).fill(1);
  if (mib > 0) for (;;) await 0;
  return held.length;
}`;

let opened: TestRuntime | undefined;
beforeEach(() => (opened = undefined));
afterEach(() => opened?.close());

function open(pool: PoolOptions = {}): Runtime {
  opened = openTestRuntime({ pool: { ...POOL, ...pool } });
  return opened.runtime;
}

function script(source: string, limits: Record<string, string> = {}): Promise<Skill> {
  const { runtime, folder } = opened as TestRuntime;
  return runtime.load(
    writeSkill(folder, { manifest: { execution: ['wasm'], limits }, files: { 'skill.js': source } }),
  );
}

function python(source: string): Promise<Skill> {
  const { runtime, folder } = opened as TestRuntime;
  return runtime.load(
    writeSkill(folder, { source, manifest: { execution: ['subprocess'], limits: { scratch: '64MiB' } } }),
  );
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

test('the memory of a running call costs no other skill its cells', async () => {
  const runtime = open();
  const [small, large] = [await script(SMALL), await script(HOLDS, { memory: '512MiB', timeout: '4s' })];
  await runtime.execute(small, {});
  await runtime.execute(large, {});
  const running = runtime.execute(large, { mib: 300 }, { reject: false });
  await sleep(NEXT_WEIGHING_MS * 2);
  await runtime.execute(large, {});
  expect(await runtime.execute(small, {}, { reject: false })).toMatchObject({ execution: { start: 'warm' } });
  expect(await running).toMatchObject({ ok: false });
});

test('what a waiting cell keeps in its temporary files counts', async () => {
  const runtime = open({ maxMemory: 64 * MIB });
  const writes = `
with open("/tmp/held", "wb") as file:
    for _ in range(48):
        file.write(bytes(2 ** 20))
def execute(params):
    return 1
`;
  const first = await python(writes);
  const second = await python(`${writes}# another\n`);
  await runtime.warm(first);
  await runtime.warm(second);
  await sleep(NEXT_WEIGHING_MS);
  await runtime.execute(second, {});
  expect(await runtime.execute(first, {}, { reject: false })).toMatchObject({
    ok: true,
    execution: { start: 'cold' },
  });
});

test('a zygote that waits counts', async () => {
  const runtime = open({ ready: 'zygote', maxMemory: 4 * MIB });
  const skills = [];
  for (let at = 0; at < 3; at++) skills.push(await python(`# ${at}\ndef execute(params):\n    return 1\n`));
  for (const skill of skills) await runtime.warm(skill);
  await sleep(NEXT_WEIGHING_MS);
  await runtime.execute(skills[2] as Skill, {});
  expect(await runtime.execute(skills[0] as Skill, {}, { reject: false })).toMatchObject({
    ok: true,
    execution: { start: 'cold' },
  });
});
