/**
 * Completion: the candidates, and the scripts in the real shells.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { candidatesFor } from '../../src/cli/candidates.ts';
import { createProgram } from '../../src/cli/program.ts';
import { SHELLS } from '../../src/cli/shell-commands.ts';
import { openCommandLine, ROOT, type CommandLine } from './command.ts';

const program = createProgram(() => undefined);
let line: CommandLine;

beforeAll(() => {
  line = openCommandLine();
  mkdirSync(join(line.folder, 'skills/my/own_skill'), { recursive: true });
  mkdirSync(join(line.folder, 'skills/my/$(touch oops)'), { recursive: true });
});

afterAll(() => line.close());

function words(...given: string[]): string[] {
  return candidatesFor(program, given).candidates.map(({ word }) => word);
}

describe('candidates', () => {
  test('are commands first, without the hidden one', () => {
    expect(words('')).toEqual(expect.arrayContaining(['run', 'audit', 'doctor', 'completion']));
    expect(words('')).not.toContain('__complete');
    expect(words('ins')).toEqual(['inspect', 'install']);
    expect(words('audit', 'v')).toEqual(['verify']);
  });

  test('are options of the command, also after an argument', () => {
    expect(words('run', 'a/b', '--par')).toEqual(['--params', '--params-file']);
    expect(words('audit', 'list', '--de')).toEqual(['--denied']);
  });

  test('are the choices of an option that expects a value', () => {
    expect(words('run', '--execution', '')).toEqual(['in_process', 'subprocess', 'wasm', 'container']);
    expect(words('completion', '')).toEqual([...SHELLS]);
  });

  test('are files and skills where those are expected, and nothing after the last argument', () => {
    expect(candidatesFor(program, ['run', '--workspace', '']).also).toBe('files');
    expect(candidatesFor(program, ['run', '--isolated', '']).also).toBe('skills');
    expect(candidatesFor(program, ['tools', 'a/b', '']).also).toBe('skills');
    expect(candidatesFor(program, ['run', 'a/b', '']).also).toBe('nothing');
    expect(candidatesFor(program, ['run', '--', '--par'])).toEqual({ candidates: [], also: 'skills' });
    expect(words('nothing', 'like', '')).toEqual([]);
    expect(candidatesFor(program, []).candidates.length).toBeGreaterThan(10);
  });
});

describe('skillcell completion', () => {
  test('completes ids of skills of the project, and none with other characters', async () => {
    const { stdout, code } = await line.run(['__complete', '--', 'run', 'my/'], { cwd: line.folder });
    expect(code).toBe(0);
    expect(stdout).toBe('my/own_skill\t\n:files\n');
  });

  test.each(SHELLS)('prints a script that %s accepts', async (shell) => {
    const { stdout, code } = await line.run(['completion', shell]);
    expect(code).toBe(0);
    const script = join(line.folder, `completion.${shell}`);
    writeFileSync(script, stdout);
    const checked = spawnSync(shell, ['-n', script], { encoding: 'utf8' });
    // zsh and fish are not on every machine; bash is.
    if (shell !== 'bash' && checked.error) return;
    expect(checked.stderr).toBe('');
    expect(checked.status).toBe(0);
  });

  test('refuses another shell', async () => {
    expect((await line.run(['completion', 'tcsh'])).code).toBe(2);
  });

  test('works in bash: commands, options, ids and files', async () => {
    const { stdout } = await line.run(['completion', 'bash']);
    const bin = join(line.folder, 'bin');
    mkdirSync(bin);
    const command = `#!/bin/sh\nexec "${process.execPath}" "${ROOT}bin/skillcell.js" "$@"\n`;
    writeFileSync(join(bin, 'skillcell'), command, { mode: 0o755 });
    const ask = (...given: string[]): string =>
      `COMP_WORDS=(skillcell ${given.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${given.length}; _skillcell; echo "\${COMPREPLY[@]}"`;
    const script = [
      stdout,
      ask('doc'),
      ask('run', 'my/'),
      ask('run', 'x', '--time'),
      ask('run', '--policy', './bi'),
    ];
    const ended = spawnSync('bash', ['--norc', '-c', script.join('\n')], {
      cwd: line.folder,
      env: { ...process.env, PATH: `${bin}:${process.env['PATH'] ?? ''}` },
      encoding: 'utf8',
    });
    expect(ended.stderr).toBe('');
    expect(ended.stdout.split('\n')).toEqual(['doctor', 'my/own_skill', '--timeout', './bin', '']);
  });
});
