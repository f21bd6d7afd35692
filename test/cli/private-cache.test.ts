/**
 * The folder for the Node that is fetched and for compiled code, for users without an account, as in many containers.
 *
 * @module
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openFolder, removeFolder } from '../write-skill.ts';
import { ROOT } from './command.ts';

/** No account has it. */
const UID = 54_331;
const folder = openFolder();
afterAll(() => removeFolder(folder));
cpSync(join(ROOT, 'bin'), join(folder, 'bin'), { recursive: true });

function cacheOf(home: string): string {
  const script = `import { privateCache } from ${JSON.stringify(join(folder, 'bin/private-cache.js'))};
    console.log(privateCache('node') ?? 'none');`;
  const ids = ['--reuid', String(UID), '--regid', String(UID), '--clear-groups'];
  const program = [process.execPath, '--input-type=module', '-e', script];
  const env = { PATH: process.env['PATH'] ?? '', HOME: home };
  const { stdout, stderr } = spawnSync('setpriv', [...ids, ...program], { env, cwd: '/', encoding: 'utf8' });
  expect(stderr).toBe('');
  return stdout.trim();
}

test('a user without an account gets it below $HOME, if only that user can write there', () => {
  const homes = ['own', 'open', 'foreign'].map((name) => join(folder, name));
  for (const home of homes) mkdirSync(home);
  const [own = '', open = '', foreign = ''] = homes;
  for (const home of [own, open]) chownSync(home, UID, UID);
  chmodSync(open, 0o777);
  expect([own, open, foreign].map(cacheOf)).toEqual([join(own, '.cache/skillcell/node'), 'none', 'none']);
});
