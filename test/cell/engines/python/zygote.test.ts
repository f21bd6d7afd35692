import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { childPids } from '../../../../src/cell/linux/memory-watch.ts';
import { createRuntime } from '../../../../src/index.ts';
import { packageRoot } from '../../../../src/inside.ts';
import { tempDir } from '../../../load/helpers.ts';
import { zygotePid } from '../../../runtime/host-state.ts';
import { writeSkill } from '../../../write-skill.ts';
import { openTestRuntime } from '../../test-runtime.ts';

/** Longer than a zygote may take to kill a child. */
const BUSY_MS = 400;

function keepHostBusy(): void {
  const end = Date.now() + BUSY_MS;
  while (Date.now() < end);
}

it('a zygote is not killed because the host was too busy to read that a cell had exited', async () => {
  const folder = tempDir();
  // With a root host, cells run as another user, who has to enter the folder.
  chmodSync(folder, 0o711);
  await using runtime = createRuntime({
    home: join(folder, 'home'),
    pool: { ready: 'zygote' },
    audit: false,
  });
  const skill = await runtime.load(join(packageRoot(), 'skills/optimization/prompt_rewriter'));
  await runtime.warm(skill);
  for (let call = 0; call < 4; call++) {
    const outcome = await runtime.execute(skill, { raw_text: 'please be brief' });
    expect(outcome.execution?.start).toBe('zygote');
    keepHostBusy();
  }
});

const SLEEPS = `
import time
def execute(params):
    time.sleep(params["seconds"])
    return "slept"
`;
/** Longer than a zygote may take to kill a child. */
const LONG_S = 4;
const PATIENCE_MS = 30_000;

it('a call that is cancelled before its fork exists ends alone', async () => {
  const open = openTestRuntime({ pool: { ready: 'zygote', maxStandby: 1 } });
  try {
    const dir = writeSkill(open.folder, { source: SLEEPS, manifest: { execution: ['subprocess'] } });
    const skill = await open.runtime.load(dir);
    await open.runtime.warm(skill);
    const zygote = zygotePid();
    const other = open.runtime.execute(skill, { seconds: LONG_S }, { reject: false });
    await expect.poll(() => childPids(zygote).length, { timeout: PATIENCE_MS }).toBe(1);
    process.kill(zygote, 'SIGSTOP');
    const cancelling = new AbortController();
    const options = { reject: false as const, signal: cancelling.signal };
    const cancelled = open.runtime.execute(skill, { seconds: 0 }, options);
    // Until its fork is asked for.
    await delay(BUSY_MS);
    cancelling.abort();
    await delay(BUSY_MS);
    process.kill(zygote, 'SIGCONT');
    expect(await cancelled).toMatchObject({ ok: false, error: { code: 'cancelled' } });
    expect(await other).toMatchObject({ ok: true, result: 'slept', execution: { start: 'zygote' } });
    await expect.poll(() => childPids(zygote), { timeout: PATIENCE_MS }).toEqual([]);
  } finally {
    await open.close();
  }
});

it('a call whose zygote is killed is not blamed on its skill', async () => {
  const open = openTestRuntime({ pool: { ready: 'zygote', maxStandby: 1 } });
  try {
    const dir = writeSkill(open.folder, { source: SLEEPS, manifest: { execution: ['subprocess'] } });
    const skill = await open.runtime.load(dir);
    await open.runtime.warm(skill);
    const zygote = zygotePid();
    const call = open.runtime.execute(skill, { seconds: LONG_S }, { reject: false });
    await expect.poll(() => childPids(zygote).length, { timeout: PATIENCE_MS }).toBe(1);
    await delay(BUSY_MS);
    process.kill(zygote, 'SIGKILL');
    expect(await call).toMatchObject({
      ok: false,
      error: { code: 'internal', message: expect.stringContaining('killed from outside') },
      execution: { start: 'zygote' },
    });
  } finally {
    await open.close();
  }
});
