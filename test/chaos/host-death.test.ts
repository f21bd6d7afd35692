/**
 * The host is killed while cells start. `--die-with-parent` does not work yet then: bwrap has not requested it, or its child has
 * not.
 */
import { writeFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openFolder, removeFolder, writeSkill } from '../write-skill.ts';
import { descendants, executes, readsFrom, seeing } from './processes.ts';
import { BWRAP, replaceBwrap, type ReplacedBwrap } from './replaced-bwrap.ts';
import { ChaosService, codeOf } from './service.ts';

const SKILL = 'test/simple';
const CALLS = 3;
const PATIENCE = { interval: 50 };

let folder: string;

beforeEach(() => {
  folder = openFolder();
  const limits = { processes: 4 };
  // A skill that may start processes has no zygote: each of its cells is started by bwrap.
  const manifest = { execution: ['subprocess'], limits };
  writeSkill(folder, { id: SKILL, manifest, source: 'def execute(params):\n    return 1' });
});

afterEach(() => removeFolder(folder));

const isWaiting = (pid: number, { program, gate }: ReplacedBwrap): boolean =>
  readsFrom(pid, gate) || executes(pid, program);

test.each([
  ['before bwrap runs', 'late-bwrap'],
  ['when bwrap has created the sandbox', 'held-bwrap'],
] as const)('a host that is killed %s leaves no process behind', async (_when, name) => {
  const replaced = replaceBwrap(folder, name);
  await using service = await ChaosService.start({ folder, programs: { [BWRAP]: replaced.program } });
  expect(codeOf(await service.call(SKILL))).toBe('ok');
  writeFileSync(replaced.hold, '');
  const calls = Array.from({ length: CALLS }, () => service.call(SKILL).catch(() => undefined));
  const waiting = (): number[] => descendants(service.child.pid!).filter((pid) => isWaiting(pid, replaced));
  await expect.poll(() => waiting().length, PATIENCE).toBeGreaterThan(0);
  const started = waiting();
  // The service and everything that it starts see the replaced bwrap among their mounts.
  const left = (): number[] => seeing(folder);
  expect(left()).toEqual(expect.arrayContaining(started));
  await service.kill();
  await Promise.all(calls);
  await expect.poll(left, PATIENCE).toEqual([]);
});
