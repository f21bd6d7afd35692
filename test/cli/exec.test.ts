/**
 * `skillcell exec` as a person or a hook uses it.
 *
 * @module
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { writeAgentSkill } from '../write-agent-skill.ts';
import { openCommandLine, ROOT } from './command.ts';

const line = openCommandLine();
afterAll(() => line.close());

const skill = writeAgentSkill(line.folder, {
  files: {
    'scripts/echo.py': `
      import sys
      data = sys.stdin.buffer.read()
      sys.stdout.buffer.write(b"\\xffout:" + data)
      sys.stderr.write("err: %s\\n" % sys.argv[1:])
      sys.exit(3)
    `,
    'scripts/wait.py': 'import time\nprint("up", flush=True)\ntime.sleep(60)\n',
    'scripts/cut.py':
      'import sys\nsys.stderr.write("no end")\ntry: open("/etc/hostname")\nexcept OSError: pass\n',
    'scripts/shadow.py': 'try: open("/etc/hostname")\nexcept OSError: print("no")\n',
  },
});

test('the output and the exit code of a command are passed through, and stdin is passed on', async () => {
  const args = ['exec', skill, '--', 'python', 'scripts/echo.py', '--json', '--help'];
  const { code, stdout, stderr } = await line.run(args, { input: 'some text' });
  expect(code).toBe(3);
  expect(stdout).toBe('\ufffdout:some text');
  expect(stderr).toContain("err: ['--json', '--help']\n");
  expect(stderr).not.toContain('error[');
});

test('denials are on stderr, after the output', async () => {
  const { code, stdout, stderr } = await line.run(['exec', skill, '--', 'python', 'scripts/shadow.py']);
  expect([code, stdout]).toEqual([0, 'no\n']);
  expect(stderr).toContain('denied: read /etc/hostname (not granted)');
});

test('denials begin a line, also after output without a line break', async () => {
  const { stderr } = await line.run(['exec', skill, '--', 'python', 'scripts/cut.py']);
  expect(stderr).toMatch(/^no end\nwarning: denied: /);
});

test('--json prints the whole outcome', async () => {
  const { code, stdout } = await line.run(['exec', skill, '--json', '--', 'python', 'scripts/echo.py', 'a']);
  expect(code).toBe(3);
  expect(JSON.parse(stdout)).toMatchObject({ ok: true, result: { exit_code: 3, stderr: "err: ['a']\n" } });
});

test.each([
  [['exec', skill, '--', 'bash', '-c', 'id'], 3, 'error[capability_denied]'],
  [['exec', skill, '--', 'python', 'scripts/none.py'], 2, 'error[invalid_params]'],
  [['exec', skill, '--timeout', '1s', '--', 'python', 'scripts/wait.py'], 4, 'error[resource_exceeded]'],
  [['exec', 'text/word_stats', '--', 'python', 'scripts/none.py'], 2, 'error[usage]'],
])('own errors of %j start with their code', async (args, exit, start) => {
  const { code, stderr } = await line.run(args);
  expect(code).toBe(exit);
  expect(stderr).toContain(`${start}: `);
});

test('binary data on stdin is refused with a fix', async () => {
  const args = ['exec', skill, '--', 'python', 'scripts/echo.py'];
  const { code, stderr } = await line.run(args, { input: Buffer.from([0xff, 0xfe, 0]) });
  expect(code).toBe(2);
  expect(stderr).toContain('file of the workspace');
});

test('the skill may be named as the project names it, and its workspace is the project', async () => {
  const project = join(line.folder, 'agent-skills');
  mkdirSync(project, { recursive: true });
  const name = skill.slice(project.length + 1);
  const args = ['exec', name, '--workspace', '.', '--', 'python', `${name}/scripts/shadow.py`];
  expect(await line.run(args, { cwd: project })).toMatchObject({ code: 0, stdout: 'no\n' });
});

test('absolute paths of the workspace and the skill reach the script as paths of the cell', async () => {
  const workspace = join(line.folder, 'agent-skills');
  const given = [join(workspace, 'form.pdf'), `--out=${workspace}/out`, join(skill, 'SKILL.md')];
  const args = ['exec', skill, '--workspace', workspace, '--', 'python', 'scripts/echo.py', ...given];
  const { stderr } = await line.run(args);
  expect(stderr).toBe("err: ['/workspace/form.pdf', '--out=/workspace/out', '/skill/SKILL.md']\n");
});

test.each([
  ['without "--"', ['python', 'scripts/echo.py', '--write', 'out']],
  ['before "--"', ['python', 'scripts/echo.py', '--host', 'a.test', '--', 'b']],
])('words of the command %s are refused, because they could be options that grant', async (_, words) => {
  for (const command of ['exec', 'record']) {
    const { code, stderr } = await line.run([command, skill, ...words]);
    expect(code).toBe(2);
    expect(stderr).toContain(command === 'record' && words.includes('--host') ? 'unknown option' : '"--"');
  }
});

test('a file of this machine that the script cannot see is a warning', async () => {
  const file = join(line.folder, 'outside.txt');
  writeFileSync(file, '');
  const args = [
    'exec',
    skill,
    '--workspace',
    skill,
    '--',
    'python',
    'scripts/echo.py',
    `--in=${file}`,
    '/none',
  ];
  const { code, stderr } = await line.run(args);
  expect([code, stderr]).toEqual([
    3,
    `err: ['--in=${file}', '/none']\nwarning: The command names "${file}", which exists on this machine, but the script cannot see it. Put it into the workspace (--workspace DIR), and pass its path there.\n`,
  ]);
});

interface Misplaced {
  where: string;
  options: string[];
  word: string;
  fix: string;
}

test.each<Misplaced>([
  {
    where: 'without a workspace',
    options: [],
    word: 'sub/data.csv',
    fix: 'Pass --workspace DIR before "--", such as --workspace . for this folder.',
  },
  {
    where: 'from another folder',
    options: ['--workspace', '..'],
    word: 'data.csv',
    fix: 'Pass "sub/data.csv".',
  },
  {
    where: 'outside the workspace',
    options: ['--workspace', '.'],
    word: '../other.csv',
    fix: 'Pass a --workspace that contains it.',
  },
])('a relative path $where is a warning if the command failed', async ({ options, word, fix }) => {
  const cwd = join(line.folder, 'places', 'sub');
  mkdirSync(join(cwd, 'sub'), { recursive: true });
  for (const file of ['data.csv', 'sub/data.csv', '../other.csv']) writeFileSync(join(cwd, file), '');
  const command = ['python', 'scripts/echo.py', word, 'plain', 'scripts/echo.py'];
  const { stderr } = await line.run(['exec', skill, ...options, '--', ...command], { cwd });
  expect(stderr).toBe(
    `err: ['${word}', 'plain', 'scripts/echo.py']\nwarning: The command names "${word}", which exists here, but relative paths of a script begin in its workspace. ${fix}\n`,
  );
});

/** As some agents start commands: their standard input is a pipe that stays open and silent. */
function withOpenInput(...options: string[]): ReturnType<typeof spawn> {
  const args = ['exec', skill, ...options, '--', 'python', 'scripts/echo.py'];
  return spawn(process.execPath, [join(ROOT, 'bin/skillcell.js'), ...args], {
    env: { ...process.env, SKILLCELL_HOME: join(line.folder, 'home') },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}

test('with --no-stdin, a command starts although the standard input never ends', async () => {
  const child = withOpenInput('--no-stdin');
  const text: Buffer[] = [];
  child.stdout?.on('data', (bytes: Buffer) => text.push(bytes));
  expect(await once(child, 'close')).toEqual([3, null]);
  expect(Buffer.concat(text)).toEqual(Buffer.from('\xffout:', 'latin1'));
});

test('whoever waits for a standard input that does not end is told why, and Ctrl-C ends it', async () => {
  const child = withOpenInput();
  const [note] = (await once(child.stderr ?? child, 'data')) as [Buffer];
  expect(note.toString()).toMatch(/^Waiting for the standard input to end\. Pass --no-stdin/);
  child.kill('SIGINT');
  expect(await once(child, 'close')).toEqual([130, null]);
});

test('Ctrl-C ends the command with 130', async () => {
  const child = spawn(
    process.execPath,
    [join(ROOT, 'bin/skillcell.js'), 'exec', skill, '--', 'python', 'scripts/wait.py'],
    { env: { ...process.env, SKILLCELL_HOME: join(line.folder, 'home') }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  await once(child.stdout, 'data');
  child.kill('SIGINT');
  expect(await once(child, 'close')).toEqual([130, null]);
});
