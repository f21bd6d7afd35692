/**
 * `skillcell tools` and `skillcell test`, and the output of `run` on a terminal.
 *
 * @module
 */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { writeSkill } from '../write-skill.ts';
import { openCommandLine, ROOT } from './command.ts';

const { folder, run, close } = openCommandLine();
afterAll(close);

const DOUBLE = 'def execute(params):\n    print("counting")\n    return {"twice": params["n"] * 2}\n';
const parameters = { type: 'object', properties: { n: { type: 'integer', multipleOf: 1 } }, required: ['n'] };

describe('skillcell tools', () => {
  test('prints the tools to stdout and warnings about lost information to stderr', async () => {
    const skill = writeSkill(folder, {
      source: DOUBLE,
      manifest: { name: 'math/double', parameters },
      files: { 'instructions.md': 'Give it a number.' },
    });
    const ended = await run(['tools', skill, '--format', 'gemini']);
    expect(ended.code).toBe(0);
    expect(JSON.parse(ended.stdout)).toMatchObject([
      { name: 'math__double', parameters: { type: 'OBJECT', properties: { n: { type: 'INTEGER' } } } },
    ]);
    expect(ended.stderr).toContain('math/double /properties/n: multipleOf is moved to the description');
    const text = await run(['tools', skill, '--format', 'claude', '--instructions']);
    expect(text.stdout).toContain('## Tool math__double');
    expect(text.stdout).toContain('Give it a number.');
  });

  test('prints typings for a program, and refuses instructions for them', async () => {
    const skill = writeSkill(folder, { source: DOUBLE, manifest: { name: 'math/typed', parameters } });
    const typescript = await run(['tools', skill, '--format', 'typescript']);
    expect(typescript).toMatchObject({ code: 0, stderr: '' });
    expect(typescript.stdout).toContain('typed(params: {');
    expect((await run(['tools', skill, '--format', 'python'])).stdout).toContain(
      'def typed(self, /, *, n: int) -> Any:',
    );
    const refused = await run(['tools', skill, '--format', 'python', '--instructions']);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
  });

  test('prints all skills of the project and warns about those that cannot be tools', async () => {
    const broken = join(writeSkill(join(folder, 'project'), { source: DOUBLE }), 'manifest.yaml');
    writeFileSync(broken, 'name: [');
    writeSkill(join(folder, 'project'), { id: 'text/word_stats', source: DOUBLE });
    const cwd = join(folder, 'project');
    const { code, stdout, stderr } = await run(['tools', '--all', '--format', 'mcp'], { cwd });
    expect(code).toBe(0);
    expect((JSON.parse(stdout) as { name: string }[]).map(({ name }) => name)).toEqual(['text__word_stats']);
    expect(stderr).toMatch(/warning: Skipped /);
    expect(stderr).toMatch(
      /warning: "text\/word_stats" is the skill in .*which is "bundled:text\/word_stats"/,
    );
    const some = await run(['tools', '--skills', 'bundled:util/*', '--format', 'mcp'], { cwd });
    expect((JSON.parse(some.stdout) as { name: string }[]).map(({ name }) => name)).toEqual([
      'util__unit_convert',
    ]);
  });

  test.each([
    ['neither a skill nor --all', ['tools', '--format', 'mcp']],
    ['both', ['tools', 'text/word_stats', '--all', '--format', 'mcp']],
    ['a pattern that matches nothing', ['tools', '--skills', 'no/such', '--format', 'mcp']],
    ['a format that is none', ['tools', '--all', '--format', 'morse']],
  ])('refuses %s', async (_what, args) => {
    expect(await run(args)).toMatchObject({ code: 2, stdout: '' });
  });
});

describe('skillcell test', () => {
  test('runs every case and exits with 1 if one fails', async () => {
    const cases = [
      { name: 'two', params: { n: 2 }, result: { twice: 4 } },
      { name: 'wrong', params: { n: 3 }, result: { twice: 7 } },
      { params: {}, error: 'invalid_params' },
    ];
    const files = { 'cases.json': JSON.stringify(cases) };
    const skill = writeSkill(folder, { id: 'math/twice', source: DOUBLE, manifest: { parameters }, files });
    const { code, stdout, stderr } = await run(['test', skill]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^pass two \(subprocess, [\d.]+ ms\)$/m);
    expect(stdout).toMatch(/^FAIL wrong .*\n {5}gave {"twice":6} instead of {"twice":7}$/m);
    expect(stdout).toMatch(/^pass case 3 \(nothing ran\)$/m);
    expect(stdout).toContain('2 of 3 cases of math/twice passed');
    expect(stderr).toContain('counting');
    writeFileSync(join(skill, 'cases.json'), JSON.stringify(cases.slice(0, 1)));
    const json = await run(['test', skill, '--json']);
    expect(json.code).toBe(0);
    expect(JSON.parse(json.stdout)).toMatchObject([{ name: 'two', fits: true, outcome: { ok: true } }]);
  });

  test('says how to write cases if there are none', async () => {
    const { code, stderr } = await run(['test', writeSkill(folder, { source: DOUBLE })]);
    expect(code).toBe(2);
    expect(stderr).toContain('cases.json');
  });
});

describe('skillcell run', () => {
  test('--explain lists every decision of the call, allowed and denied', async () => {
    const nosy = writeSkill(folder, {
      source: 'def execute(params):\n    return open("/etc/passwd").read()\n',
    });
    const { code, stderr } = await run(['run', nosy, '--explain']);
    expect(code).toBe(3);
    expect(stderr).toMatch(/^trust {5}\S/m);
    expect(stderr).toMatch(/^decided\n {2}denied {2}filesystem {2}read \/etc\/passwd \(not granted\)$/m);
    const quiet = await run(['run', 'text/word_stats', '--params', '{"text":"a"}', '--explain']);
    expect(quiet.stderr).toMatch(/^decided\n {2}the skill requested nothing$/m);
  });

  test('shows on a terminal where a slow call runs and how it ended', async () => {
    const slow = writeSkill(folder, {
      source: 'import time\ndef execute(params):\n    time.sleep(1.2)\n    return 1\n',
    });
    // Python provides a pseudo-terminal; what the command writes to it comes back on stdout.
    const inTerminal = 'import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)';
    const command = [process.execPath, join(ROOT, 'bin/skillcell.js'), 'run', slow, '--params', '{}'];
    const env = { ...process.env, SKILLCELL_HOME: join(folder, 'home'), NO_COLOR: '1' };
    const { stdout } = await promisify(execFile)('python3', ['-c', inTerminal, ...command], { env });
    expect(stdout).toMatch(/subprocess · jail · python · [\d.]+ s/);
    expect(stdout).toMatch(/subprocess · jail · python · [\d.]+ ms · receipt [0-9A-Z]{26}/);
  });
});
