/**
 * A killed host leaves containers behind; the next host removes only those.
 *
 * @module
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { containerName, isOrphan, ownOwner, ownerOf } from '../../../../src/cell/walls/container/owner.ts';
import { writeSkill } from '../../../write-skill.ts';
import { IN_CONTAINER, openContainerRuntime } from './container-runtime.ts';

const BUSY = 'import time\ndef execute(params):\n    while True:\n        time.sleep(0.01)\n';
const HOST = join(import.meta.dirname, 'crashed-host.ts');

test.each(['crun', 'podman'] as const)(
  'the next host kills the containers of a killed host: %s',
  async (backend) => {
    const opened = await openContainerRuntime(backend, { pool: { size: 0 } });
    onTestFinished(() => opened.close());
    const home = join(opened.folder, 'home');
    const busy = writeSkill(opened.folder, {
      manifest: { ...IN_CONTAINER, limits: { timeout: '300s' } },
      source: BUSY,
    });
    const host = spawn(process.execPath, [HOST, backend, home, busy], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(host.stdout, 'data');
    const running = (): number[] => pidsIn(join(home, 'containers', backend, 'cells')).filter(isRunning);
    await expect.poll(() => running().length).toBeGreaterThan(0);
    const left = running();
    host.kill('SIGKILL');
    await once(host, 'exit');
    expect(left.filter(isRunning)).not.toEqual([]);
    const fine = writeSkill(opened.folder, {
      manifest: { ...IN_CONTAINER, limits: { timeout: '240s' } },
      source: 'def execute(params):\n    return 1\n',
    });
    expect(await opened.runtime.execute(fine, {}, { reject: false })).toMatchObject({ ok: true, result: 1 });
    await expect.poll(() => left.filter(isRunning)).toEqual([]);
  },
);

test('a container name contains its owner, and only a container of a dead owner is an orphan', () => {
  const own = ownOwner();
  const name = containerName(own);
  expect(ownerOf(name)).toEqual(own);
  expect(isOrphan(name)).toBe(false);
  expect(isOrphan(containerName({ ...own, started: '1' }))).toBe(true);
  expect(isOrphan('somebody-elses')).toBe(false);
  // In another namespace the pid may be another process, so only a host there can judge.
  expect(isOrphan(containerName({ ...own, started: '1', namespace: '1' }))).toBe(false);
});

/** The first processes of all containers in this folder. */
function pidsIn(cells: string): number[] {
  const files = readdirSync(cells).map((name) => join(cells, name, 'pid'));
  return files.filter((file) => existsSync(file)).map((file) => Number(readFileSync(file, 'utf8')));
}

function isRunning(pid: number): boolean {
  return existsSync(`/proc/${pid}`);
}
