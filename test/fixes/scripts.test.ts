/**
 * Denied acts of commands: the line that `exec` prints, followed word by word, makes the same command succeed, once with the
 * options for one call and once with the commands that keep it.
 *
 * @module
 */
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { openCommandLine, type Ended } from '../cli/command.ts';
import { dedent } from '../write-skill.ts';
import { follow } from './apply.ts';
import { words } from './scene.ts';

const line = openCommandLine();
const server = createServer((_, response) => response.end('hello')).listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = server.address() as AddressInfo;
afterAll(() => {
  server.close().closeAllConnections();
  line.close();
});

const LONG = 240_000;
/** Each does its act, and ends with 1 if it was denied. */
const SCRIPTS: Readonly<Record<string, string>> = {
  write: 'import sys\nopen(sys.argv[1], "w").write("x")\n',
  fetch: `
    import urllib.request
    print(urllib.request.urlopen("http://127.0.0.1:${port}/a").read())
  `,
  variable: 'import os\nprint(os.environ["COLOUR"])\n',
  start: 'import subprocess\nsubprocess.run(["/usr/bin/true"], check=True)\n',
  system: 'open("/etc/hostname").read()\n',
  large: 'print(len(bytearray(300 << 20)))\n',
};
const ENV = { COLOUR: 'green' };
let count = 0;

interface Scene {
  cwd: string;
  exec: (options: readonly string[], command: readonly string[]) => Promise<Ended>;
  run: (command: string) => Promise<void>;
}

function makeScene(): Scene {
  const cwd = join(line.folder, `scene-${++count}`);
  const skill = join(cwd, `acts-${count}`);
  mkdirSync(join(skill, 'scripts'), { recursive: true });
  mkdirSync(join(cwd, 'work/out'), { recursive: true });
  chmodSync(join(cwd, 'work/out'), 0o777);
  writeFileSync(join(skill, 'SKILL.md'), `---\nname: acts-${count}\ndescription: Acts.\n---\n\nRun one.\n`);
  for (const [name, text] of Object.entries(SCRIPTS))
    writeFileSync(join(skill, `scripts/${name}.py`), dedent(text));
  const start = (args: string[]): Promise<Ended> => line.run(args, { cwd, env: ENV });
  return {
    cwd,
    exec: (options, command) =>
      start([
        'exec',
        `./acts-${skill.split('-').at(-1)}`,
        '--workspace',
        'work',
        ...options,
        '--',
        ...command,
      ]),
    run: async (command) => {
      const [, ...args] = words(command);
      // Off a terminal, the command itself says to add this.
      const ended = await start(args[0] === 'approve' ? [...args, '--yes'] : args);
      expect(ended.code, `${command}\n${ended.stderr}`).toBe(0);
    },
  };
}

function fixIn({ stderr }: Ended): string {
  return /^fix: (.*)$/m.exec(stderr)?.[1] ?? '';
}

/** What only a person can do: "Create … if it does not exist". */
function create(fix: string, cwd: string): void {
  const [, path] = /Create (\S+) if it does not exist\./.exec(fix) ?? [];
  if (path === undefined) return;
  writeFileSync(join(cwd, path), '');
  chmodSync(join(cwd, path), 0o666);
}

const onlyPolicy = (fix: string): string => fix.replace(/For one call.*$/, '');

const ROWS: [string, string[], RegExp][] = [
  ['writes a file', ['python', 'scripts/write.py', 'out/a.txt'], / add --write out\/a\.txt before "--"\./],
  ['makes a request', ['python', 'scripts/fetch.py'], / add --host http:\/\/127\.0\.0\.1:\d+ before "--"\./],
  ['reads a variable', ['python', 'scripts/variable.py'], / add --env COLOUR before "--"\./],
  ['starts a program', ['python', 'scripts/start.py'], / add --processes 2 before "--"\./],
];

describe.each(ROWS)('a script that %s', (_title, command, says) => {
  test('succeeds with the options for one call', { timeout: LONG }, async () => {
    const scene = makeScene();
    const before = await scene.exec([], command);
    expect(before.code, before.stderr).toBe(1);
    const fix = fixIn(before);
    expect(fix, before.stderr).toMatch(says);
    create(fix, scene.cwd);
    await follow(onlyPolicy(fix), { cwd: scene.cwd, run: scene.run });
    const [, options = ''] = /add (.*) before "--"/.exec(fix) ?? [];
    const after = await scene.exec(words(options), command);
    expect([after.code, after.stderr]).toEqual([0, '']);
    // For one call only.
    expect((await scene.exec([], command)).code).toBe(1);
  });

  test('succeeds after the commands that keep it', { timeout: LONG }, async () => {
    const scene = makeScene();
    const fix = fixIn(await scene.exec([], command));
    create(fix, scene.cwd);
    await follow(fix, { cwd: scene.cwd, run: scene.run });
    const after = await scene.exec([], command);
    expect([after.code, after.stderr], fix).toEqual([0, '']);
  });
});

test('a program of the system succeeds with the option that the error names', { timeout: LONG }, async () => {
  const scene = makeScene();
  const before = await scene.exec([], ['uname']);
  const [, option = ''] = /grant it: (--program uname)\./.exec(fixIn(before)) ?? [];
  expect(await scene.exec(words(option), ['uname'])).toMatchObject({ code: 0, stdout: 'Linux\n' });
});

test('an act that nobody can allow has no fix', { timeout: LONG }, async () => {
  const ended = await makeScene().exec([], ['python', 'scripts/system.py']);
  expect(ended.stderr).toContain('denied: read /etc/hostname');
  expect(fixIn(ended)).toBe('');
});

test('the overlay permits the act and nothing else', { timeout: LONG }, async () => {
  const scene = makeScene();
  const fix = fixIn(await scene.exec([], ['python', 'scripts/write.py', 'out/a.txt']));
  create(fix, scene.cwd);
  await follow(fix, { cwd: scene.cwd, run: scene.run });
  const text = readFileSync(join(scene.cwd, `.skillcell/skills/acts-${count}.yaml`), 'utf8');
  expect(text).toContain('${workspace}/out/a.txt');
  expect(text).not.toMatch(/network|processes|env_vars|programs/);
});

test(
  'a script that exceeds a limit succeeds after the overlay that the fix names',
  { timeout: LONG },
  async () => {
    const scene = makeScene();
    const command = ['python', 'scripts/large.py'];
    const before = await scene.exec([], command);
    expect(before.code, before.stderr).toBe(4);
    const fix = fixIn(before);
    expect(fix).not.toContain('manifest.yaml');
    expect(fix).toContain('.skillcell/skills/');
    await follow(fix, { cwd: scene.cwd, raiseTo: '512MiB', run: scene.run });
    const after = await scene.exec([], command);
    expect([after.code, after.stdout]).toEqual([0, '314572800\n']);
    // A later one changes the same file.
    const again = fixIn(await scene.exec([], ['python', '-c', 'x = bytearray(600 << 20)']));
    expect(again).toMatch(/^Give it less work, or do this: Raise limits\.memory in /);
  },
);

test('record takes relative paths of the workspace, as exec does', { timeout: LONG }, async () => {
  const scene = makeScene();
  const command = ['python', 'scripts/write.py', 'out/a.txt'];
  const fix = fixIn(await scene.exec([], command));
  expect(fix).toContain('add --write out/a.txt ');
  expect(fix).toContain(' --allow-write out/a.txt ');
});
