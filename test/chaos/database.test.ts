/**
 * The audit log of the real service is moved, replaced, locked or made read-only. No call is accepted without a receipt, and
 * the service recovers when the file is back.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { packageRoot } from '../../src/inside.ts';
import { openFolder, removeFolder, writeSkill } from '../write-skill.ts';
import { ChaosService, codeOf } from './service.ts';

let folder: string;

beforeEach(() => {
  folder = openFolder();
  writeSkill(folder, {
    id: 'test/echo',
    manifest: { execution: ['subprocess'], limits: { timeout: '60s' } },
    source: `
      import time
      def execute(params):
          time.sleep(params.get("seconds", 0))
          return params
    `,
  });
});

afterEach(() => removeFolder(folder));

const databaseOf = ({ inside }: ChaosService): string => join(inside, 'audit.db');

async function expectRefused(service: ChaosService): Promise<void> {
  // More calls than the tenant has slots, to detect a slot that is not released.
  for (let calls = 0; calls < 12; calls++)
    expect(codeOf(await service.call('test/echo')), `call ${calls}`).toBe('skill_unavailable');
  expect(await service.ask('/readyz')).toMatchObject({
    status: 503,
    body: { hindrances: [{ part: 'receipts' }] },
  });
  expect((await service.ask('/healthz')).status, 'it is alive').toBe(200);
}

describe('a log whose file', () => {
  test.each(['is gone', 'is garbage'])(
    '%s accepts no call until it is back, and loses no receipt',
    async (fault) => {
      await using service = await ChaosService.start({ folder, args: ['--drain', '5s'] });
      expect(codeOf(await service.call('test/echo'))).toBe('ok');
      const under = service.call('test/echo', { seconds: 3 });
      await service.running(1);
      const file = databaseOf(service);
      renameSync(file, `${file}.away`);
      if (fault === 'is garbage') writeFileSync(file, 'no database at all'.repeat(500));
      await expectRefused(service);
      expect(codeOf(await under), 'the call that was accepted before').toBe('ok');
      renameSync(`${file}.away`, file);
      await service.expectWell('test/echo');
      expect([...(await service.receipts()).values()]).toEqual(['ok', 'ok', 'ok']);
      expect(await service.stop()).toBe(0);
    },
  );

  test('was deleted for good starts again with the next service, which knows what was accepted since', async () => {
    let accepted: string;
    {
      await using service = await ChaosService.start({ folder, args: ['--drain', '5s'] });
      expect(codeOf(await service.call('test/echo'))).toBe('ok');
      // Reading moves the receipts from the journal into the database.
      await service.receipts();
      const under = service.call('test/echo', { seconds: 3 });
      [accepted = ''] = await service.running(1);
      for (const end of ['', '-wal', '-shm']) rmSync(`${databaseOf(service)}${end}`);
      expect(codeOf(await under)).toBe('ok');
      await expectRefused(service);
      expect(await service.stop()).toBe(0);
    }
    await using next = await ChaosService.start({ folder });
    expect((await next.receipts()).get(accepted)).toBe('ok');
    await next.expectWell('test/echo');
  });

  test('was truncated crashes no host: calls get a result or a typed error, and it stops on request', async () => {
    await using service = await ChaosService.start({ folder, args: ['--drain', '5s'] });
    expect(codeOf(await service.call('test/echo'))).toBe('ok');
    await service.receipts();
    truncateSync(databaseOf(service), 100);
    for (let calls = 0; calls < 12; calls++)
      expect(['ok', 'skill_unavailable', 'internal']).toContain(codeOf(await service.call('test/echo')));
    expect((await service.ask('/healthz')).status).toBe(200);
    expect(await service.stop()).toBe(0);
  });

  test('is locked by another process continues in its journal and has every receipt afterwards', async () => {
    await using service = await ChaosService.start({ folder });
    expect(codeOf(await service.call('test/echo'))).toBe('ok');
    const script = `
      import sqlite3, sys
      database = sqlite3.connect(sys.argv[1], isolation_level=None)
      database.execute("BEGIN IMMEDIATE")
      print("locked", flush=True)
      sys.stdin.read()
    `;
    const lock = spawn('/usr/bin/python3', ['-c', script.replaceAll(/^ {6}/gm, ''), databaseOf(service)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    await once(lock.stdout, 'data');
    expect(codeOf(await service.call('test/echo'))).toBe('ok');
    lock.stdin.end();
    await once(lock, 'exit');
    await service.expectWell('test/echo');
    expect([...(await service.receipts()).values()]).toEqual(['ok', 'ok', 'ok']);
    expect(await service.stop()).toBe(0);
  });
});

describe('serve with a read-only home', () => {
  test('answers every call with a result or a typed error and one receipt, and recovers when it is writable again', async () => {
    await using service = await ChaosService.start({ folder, disk: '96m', args: ['--drain', '5s'] });
    const before = await service.call('test/echo');
    expect(codeOf(before)).toBe('ok');
    const inService = (...command: string[]): unknown =>
      execFileSync('nsenter', ['-t', String(service.child.pid), '-m', ...command]);
    // Files that are already open stay writable: a disk in use cannot be made read-only, but a mount over it can. It is made
    // elsewhere and moved, because the service may open a file on it before it is read-only.
    const readOnly = join(folder, 'read-only');
    mkdirSync(readOnly);
    inService('mount', '--bind', service.home, readOnly);
    inService('mount', '-o', 'remount,bind,ro', readOnly);
    inService('mount', '--move', readOnly, service.home);
    expect(() => writeFileSync(join(service.inside, 'probe'), ''), 'it is read-only').toThrow(/EROFS/);
    // In parallel, so that the pool runs dry and new cells are needed.
    const calls = Array.from({ length: 6 }, (_, n) => service.call('test/echo', { n }));
    const answers = [before, ...(await Promise.all(calls))];
    for (const answer of answers) expect(['ok', 'skill_unavailable', 'internal']).toContain(codeOf(answer));
    expect((await service.ask('/healthz')).status).toBe(200);
    inService('umount', service.home);
    await service.expectWell('test/echo');
    const receipts = await service.receipts();
    for (const answer of answers)
      if (answer.status !== 503)
        expect(receipts.get(String(answer.body['call_id'])), 'its receipt').toBe(codeOf(answer));
    expect(await service.stop()).toBe(0);
  });

  test('does not start if it was read-only from the beginning, and says what to do', () => {
    const home = join(folder, 'home');
    const script = 'mkdir -p "$0" && mount -t tmpfs -o ro tmpfs "$0" && exec "$@"';
    const command = [process.execPath, join(packageRoot(), 'bin/skillcell.js'), 'serve', '--port', '0'];
    const { status, stderr } = spawnSync('unshare', ['--mount', 'sh', '-c', script, home, ...command], {
      cwd: folder,
      env: { ...process.env, SKILLCELL_HOME: home },
      encoding: 'utf8',
      timeout: 200_000,
    });
    expect(stderr).toContain('fix:');
    expect([2, 6]).toContain(status);
  });
});
