/**
 * The cell contract for a host without root: it has no uid to drop to, and usually no control group.
 *
 * @module
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { ExecuteOptions, PairReport } from '../../src/index.ts';
import type { Outcome } from '../../src/outcome.ts';
import { openFolder, removeFolder } from '../write-skill.ts';
import { cellContract } from './contract.ts';
import { UNPRIVILEGED } from './walls/jail/jailed-python.ts';

const folder = openFolder();
const home = join(folder, 'home');
mkdirSync(home, { mode: 0o700 });
if (UNPRIVILEGED.uid !== undefined) chownSync(home, UNPRIVILEGED.uid, UNPRIVILEGED.uid);

const host: ChildProcess = fork(join(import.meta.dirname, 'plain-user-host.ts'), [home], {
  ...UNPRIVILEGED,
  cwd: '/',
  env: { PATH: '/usr/bin:/bin' },
  execArgv: [],
  stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
});
const [started] = (await once(host, 'message')) as [{ uid: number; doctor: PairReport[] }];

afterAll(async () => {
  host.disconnect();
  await once(host, 'exit');
  removeFolder(folder);
});

let calls = 0;

async function execute(dir: string, params: unknown, options: ExecuteOptions = {}): Promise<Outcome> {
  const { signal, ...rest } = options;
  const id = ++calls;
  signal?.addEventListener('abort', () => host.send({ abort: id }), { once: true });
  const answered = new Promise<Outcome>((resolve) => {
    const listen = (message: { id: number; outcome: Outcome }): void => {
      if (message.id !== id) return;
      host.off('message', listen);
      resolve(message.outcome);
    };
    host.on('message', listen);
  });
  host.send({ id, dir, params, options: rest });
  return answered;
}

test('a host without root has a jail', () => {
  expect(started.uid).not.toBe(0);
  const jail = jailOf(started.doctor);
  expect(jail, jail?.summary).toMatchObject({ wall: 'jail', available: true });
});

cellContract('a cell of a host without root', {
  start: 'cold',
  isProcess: true,
  isGrouped: !jailOf(started.doctor)?.summary.includes('no writable cgroup'),
  execute,
});

function jailOf(pairs: PairReport[]): PairReport | undefined {
  return pairs.find(({ mode, engine }) => mode === 'subprocess' && engine === 'python');
}
