/**
 * If bwrap is killed while a cell starts, its children must not stay behind.
 */
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRuntime, type Skill } from '../../../../src/index.ts';
import { openFolder, removeFolder, writeSkill } from '../../../write-skill.ts';

/** Without the cleanup, half of the calls leave a process behind. */
const CALLS = 6;

let folder: string;
let dir: string;

beforeAll(() => {
  folder = openFolder();
  dir = writeSkill(folder, { source: 'def execute(params):\n    return 1' });
});

afterAll(() => removeFolder(folder));

function childrenOf(parent: number): number[] {
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger);
  return pids.filter((pid) => Number(/^PPid:\s*(\d+)/m.exec(statusOf(pid))?.[1]) === parent);
}

function statusOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch {
    return '';
  }
}

function isAlive(pid: number): boolean {
  const status = statusOf(pid);
  return status !== '' && !/^State:\s+Z/m.test(status);
}

/** Undefined if the call finished first. */
async function firstChild(parent: number, name: RegExp, isOver: () => boolean): Promise<number | undefined> {
  for (; !isOver(); await sleep(0)) {
    const child = childrenOf(parent).find((pid) => isAlive(pid) && name.test(statusOf(pid)));
    if (child !== undefined || !isAlive(parent)) return child;
  }
  return undefined;
}

/** Kills bwrap as soon as it has a child; returns the pid of the child. */
async function killBwrapEarly(call: Promise<unknown>): Promise<number | undefined> {
  let hasEnded = false;
  const ended = call.finally(() => (hasEnded = true));
  const bwrap = await firstChild(process.pid, /^Name:\s+bwrap$/m, () => hasEnded);
  const inner = bwrap && (await firstChild(bwrap, /^Name:/m, () => hasEnded));
  if (bwrap !== undefined && isAlive(bwrap)) process.kill(bwrap, 'SIGKILL');
  await ended;
  return inner;
}

test.each([true, false])(
  'a bwrap killed during start leaves no process behind (cgroups: %s)',
  async (cgroups) => {
    const home = join(folder, `home-${cgroups}`);
    await using runtime = createRuntime({
      home,
      cwd: folder,
      pool: { size: 0 },
      audit: false,
      jail: { cgroups },
    });
    const skill: Skill = await runtime.load(dir);
    await runtime.execute(skill, {});
    const started: number[] = [];
    for (let call = 0; call < CALLS; call++) {
      const inner = await killBwrapEarly(runtime.execute(skill, {}, { reject: false }));
      if (inner !== undefined) started.push(inner);
    }
    expect(started.length).toBeGreaterThan(0);
    await expect.poll(() => started.filter(isAlive)).toEqual([]);
  },
);

test('a call whose bwrap is killed fails with an error that says so', async () => {
  await using runtime = createRuntime({ home: join(folder, 'home'), cwd: folder, pool: { size: 0 } });
  const workspace = join(folder, 'workspace');
  mkdirSync(workspace);
  chmodSync(workspace, 0o777);
  const sleeper = writeSkill(folder, {
    source:
      'import time\ndef execute(params):\n    open("/workspace/awake", "w").close()\n    time.sleep(60)',
    manifest: { capabilities: { filesystem: [{ path: '${workspace}', access: 'read-write' }] } },
  });
  const call = runtime.execute(sleeper, {}, { reject: false, execution: 'subprocess', workspace });
  await expect.poll(() => existsSync(join(workspace, 'awake'))).toBe(true);
  const bwrap = childrenOf(process.pid).find((pid) => /^Name:\s+bwrap$/m.test(statusOf(pid)));
  if (bwrap === undefined) throw new Error('bwrap was not found');
  process.kill(bwrap, 'SIGKILL');
  expect(await call).toMatchObject({
    ok: false,
    error: { code: 'internal', message: expect.stringContaining('bubblewrap received SIGKILL') },
  });
});

test('a call after bwrap was uninstalled fails with an error that says so', async () => {
  const bwrap = join(folder, 'bwrap');
  copyFileSync('/usr/bin/bwrap', bwrap);
  chmodSync(bwrap, 0o755);
  await using runtime = createRuntime({
    home: join(folder, 'home'),
    cwd: folder,
    pool: { size: 0 },
    jail: { bwrap },
  });
  const options = { reject: false, execution: 'subprocess' } as const;
  expect(await runtime.execute(dir, {}, options)).toMatchObject({ ok: true });
  rmSync(bwrap);
  expect(await runtime.execute(dir, {}, options)).toMatchObject({
    ok: false,
    error: {
      code: 'skill_unavailable',
      message: expect.stringContaining('bubblewrap could not be started'),
      fix: expect.stringContaining('apt-get install bubblewrap'),
    },
  });
});
