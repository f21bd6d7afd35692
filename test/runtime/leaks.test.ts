/**
 * Many calls leave nothing behind.
 *
 * @module
 */
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { openTestRuntime } from '../cell/test-runtime.ts';
import { writeSkill } from '../write-skill.ts';
import { controlGroups, descendants, openDescriptors, temporaryFiles } from './host-state.ts';

const SEQUENTIAL = 1000;
const CONCURRENT = 200;

/** Succeeds most of the time, and sometimes fails in ways that use other clean-up paths. */
const SOURCE = `
  import os
  def execute(params):
      n = params["n"]
      with open("/tmp/scratch", "w") as file:
          file.write("x" * 4096)
      if n % 50 == 7:
          raise ValueError("on purpose")
      if n % 50 == 17:
          os._exit(1)
      if n % 50 == 27:
          open("/etc/passwd")
      return n
`;

let before: ReturnType<typeof hostState>;

function hostState(): { descendants: number[]; groups: string[]; descriptors: number } {
  return { descendants: descendants(), groups: controlGroups(), descriptors: openDescriptors() };
}

beforeAll(async () => {
  // The first use opens descriptors that Node keeps; those are not leaks.
  const { runtime, folder, close } = openTestRuntime();
  await runtime.execute(writeSkill(folder, { source: SOURCE }), { n: 1 });
  await close();
  // A killed process takes a moment to disappear.
  await vi.waitFor(() => expect(descendants()).toEqual([]), { timeout: 180_000, interval: 50 });
  before = hostState();
});

test(`${SEQUENTIAL} sequential and ${CONCURRENT} concurrent calls leave nothing behind`, async () => {
  const { runtime, folder, close } = openTestRuntime();
  onTestFinished(close);
  const skill = await runtime.load(writeSkill(folder, { source: SOURCE }));
  const call = async (n: number): Promise<string> => {
    const outcome = await runtime.execute(skill, { n }, { reject: false });
    if (outcome.ok) expect(outcome.result).toBe(n);
    return outcome.ok ? 'ok' : outcome.error.code;
  };
  const codes: string[] = [];
  for (let n = 0; n < SEQUENTIAL; n++) codes.push(await call(n));
  codes.push(...(await Promise.all(Array.from({ length: CONCURRENT }, (_, n) => call(n)))));

  const total = SEQUENTIAL + CONCURRENT;
  const countOf = (code: string): number => codes.filter((one) => one === code).length;
  expect(countOf('ok')).toBe(total * 0.94);
  expect(countOf('skill_error')).toBe(total * 0.04);
  expect(countOf('capability_denied')).toBe(total * 0.02);
  expect(runtime.audit.verify()).toMatchObject({ ok: true, count: total });

  await runtime.close();
  const { descriptors, ...others } = before;
  await expect.poll(hostState).toMatchObject(others);
  // Sockets of the first use may have been open during the first count.
  await expect.poll(openDescriptors).toBeLessThanOrEqual(descriptors);
  expect(temporaryFiles(runtime.home)).toEqual([]);
});
