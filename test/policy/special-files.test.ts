import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { specialFileWarnings } from '../../src/policy/special-files.ts';
import { openCommandLine } from '../cli/command.ts';
import { writeSkill } from '../write-skill.ts';

const line = openCommandLine();
afterAll(() => line.close());

test('inspect names sockets and named pipes in a granted folder, but no ordinary files', async () => {
  const workspace = join(line.folder, 'workspace');
  mkdirSync(join(workspace, 'deep/er'), { recursive: true });
  writeFileSync(join(workspace, 'file'), '');
  const skill = writeSkill(line.folder, {
    source: 'def execute(params):\n    return 1\n',
    manifest: { capabilities: { filesystem: [{ path: '${workspace}', access: 'read' }] } },
  });
  const inspect = async (): Promise<string> =>
    (await line.run(['inspect', skill, '--workspace', workspace])).stderr;
  expect(await inspect()).not.toContain('named pipes');
  execFileSync('mkfifo', [join(workspace, 'deep/er/pipe')]);
  await using server = createServer().listen(join(workspace, 'socket'));
  expect(server.listening).toBe(true);
  const said = await inspect();
  expect(said).toContain(`"${join(workspace, 'socket')}"`);
  expect(said).toContain(`"${join(workspace, 'deep/er/pipe')}"`);
  const json = await line.run(['inspect', skill, '--workspace', workspace, '--json']);
  expect(json.stdout).toContain('named pipes');
});

test('the search is bounded and skips folders that cannot be read', () => {
  const folder = join(line.folder, 'many');
  mkdirSync(folder);
  for (let at = 0; at < 5001; at++) writeFileSync(join(folder, `a${at}`), '');
  mkdirSync(join(folder, 'z'));
  execFileSync('mkfifo', [join(folder, 'z/pipe')]);
  const granted = (host: string): Parameters<typeof specialFileWarnings>[0] => [
    { host, guest: '/w', access: 'read' },
  ];
  expect(specialFileWarnings(granted(folder))).toEqual([]);
  expect(specialFileWarnings(granted(join(folder, 'z')))).toHaveLength(1);
  expect(specialFileWarnings(granted(join(folder, 'none')))).toEqual([]);
});
