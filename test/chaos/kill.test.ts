/**
 * Processes are killed at every stage: the host while calls wait and run, and cells in the middle of a call. At the same time,
 * a second host in another pid namespace reads the log. Every accepted call has exactly one receipt.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { makeRunFolder } from '../../src/cell/linux/run-folder.ts';
import { packageRoot } from '../../src/inside.ts';
import { openFolder, removeFolder, writeSkill } from '../write-skill.ts';
import { ChaosService, codeOf } from './service.ts';

const COMMAND = join(packageRoot(), 'bin/skillcell.js');
let folder: string;

beforeEach(() => {
  folder = openFolder();
  writeSkill(folder, {
    id: 'test/sleeps',
    manifest: { execution: ['subprocess'] },
    source: `
      import time
      def execute(params):
          print("begun", flush=True)
          time.sleep(params["seconds"])
          return "slept"
    `,
  });
});

afterEach(() => removeFolder(folder));

async function runningIds(service: ChaosService, atLeast: number): Promise<string[]> {
  const ids = async (): Promise<string[]> => {
    const { body } = await service.ask('/v1/calls?limit=0');
    return (body['running'] as { call_id: string; state: string }[]).map(({ call_id }) => call_id);
  };
  await expect.poll(async () => (await ids()).length).toBeGreaterThanOrEqual(atLeast);
  return ids();
}

/** All descendants of a process. */
function descendants(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .trim()
    .split(' ')
    .filter(Boolean);
  return children.map(Number).flatMap((child) => [child].concat(descendants(child)));
}

describe('a host that is killed', () => {
  test('leaves one receipt for each accepted call, whether it was queued or running', async () => {
    let accepted: string[];
    {
      await using service = await ChaosService.start({ folder });
      expect(codeOf(await service.call('test/sleeps', { seconds: 0 }))).toBe('ok');
      const calls = Array.from({ length: 6 }, () =>
        service.call('test/sleeps', { seconds: 60 }).catch(() => undefined),
      );
      accepted = await runningIds(service, 6);
      await service.kill();
      await Promise.all(calls);
    }
    await using next = await ChaosService.start({ folder });
    const receipts = await next.receipts();
    for (const id of accepted) expect(receipts.get(id), id).toBe('internal');
    expect(receipts.size).toBe(accepted.length + 1);
    expect(codeOf(await next.call('test/sleeps', { seconds: 0 }))).toBe('ok');
    expect((await next.ask('/v1/receipts/verify')).body).toMatchObject({ ok: true });
    expect(await next.stop()).toBe(0);
  });

  test('leaves a receipt also for a single command', async () => {
    const env = { ...process.env, SKILLCELL_HOME: join(folder, 'home') };
    const params = ['--params', '{"seconds":60}'];
    const child = spawn(process.execPath, [COMMAND, 'run', 'test/sleeps', ...params], {
      cwd: folder,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout.resume();
    child.stderr.resume();
    const journals = (): string[] =>
      readdirSync(folder).includes('home')
        ? readdirSync(join(folder, 'home')).filter((name) => name.endsWith('.journal'))
        : [];
    await expect.poll(() => journals().length).toBe(1);
    child.kill('SIGKILL');
    await once(child, 'exit');
    await using next = await ChaosService.start({ folder });
    expect([...(await next.receipts()).values()]).toEqual(['internal']);
  });
});

describe('a log that is read from another pid namespace', () => {
  test('keeps the journal of a live host, and every call has one receipt', async () => {
    await using service = await ChaosService.start({ folder });
    const call = service.call('test/sleeps', { seconds: 3 });
    await runningIds(service, 1);
    const elsewhere = ['--pid', '--fork', '--mount-proc', process.execPath, COMMAND, 'audit', 'verify'];
    const env = { ...process.env, SKILLCELL_HOME: service.home };
    execFileSync('unshare', elsewhere, { cwd: folder, env, stdio: 'ignore' });
    expect(codeOf(await call)).toBe('ok');
    expect([...(await service.receipts()).values()]).toEqual(['ok']);
  });

  test('keeps the socket folders of a live host and removes those of a dead one', () => {
    const home = join(folder, 'home');
    const own = makeRunFolder(home);
    const left = join(home, 'run', '0123456789abcdef');
    mkdirSync(left);
    makeRunFolder(home, -1000).remove();
    expect(readdirSync(join(home, 'run')).toSorted()).toEqual(
      [basename(own.path), `${basename(own.path)}.lock`].toSorted(),
    );
    own.remove();
    expect(readdirSync(join(home, 'run'))).toEqual([]);
  });
});

describe('cells that are killed', () => {
  test('fail their own call with a receipt, and the next one works', async () => {
    await using service = await ChaosService.start({ folder });
    expect(codeOf(await service.call('test/sleeps', { seconds: 0 }))).toBe('ok');
    for (let round = 0; round < 4; round++) {
      const call = service.call('test/sleeps', { seconds: 20 });
      await runningIds(service, 1);
      // Kill cells at any stage: starting, waiting, forked or running.
      for (const pid of descendants(service.child.pid!)) {
        try {
          process.kill(pid, 'SIGKILL');
        } catch {
          continue;
        }
      }
      const killed = await call;
      if (codeOf(killed) !== 'ok')
        expect((await service.receipts()).get(String(killed.body['call_id']))).toBe(codeOf(killed));
      expect(codeOf(await service.call('test/sleeps', { seconds: 0 })), `after round ${round}`).toBe('ok');
    }
    expect((await service.ask('/readyz')).status).toBe(200);
    expect(await service.stop()).toBe(0);
  });
});
