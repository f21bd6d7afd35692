import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildSkill } from '../../src/inside.ts';
import { openCommandLine, type CommandLine } from '../cli/command.ts';
import { copySource } from '../skills/copy-skill.ts';

let line: CommandLine;

beforeAll(() => {
  line = openCommandLine();
});

afterAll(() => line.close());

describe('skillcell build', () => {
  test('writes skill.wasm and reports its size and digest', async () => {
    const dir = copySource('text/word_stats_c', line.folder);
    const { code, stdout } = await line.run(['build', dir]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Built .*\/skill\.wasm from C: \d+(?:B|KiB), sha256:[0-9a-f]{64}\n$/);
  });

  test('produces the same bytes for the same source in any folder', () => {
    const digests = ['here', 'there'].map((place) => {
      const dir = copySource('text/word_stats_c', join(line.folder, place));
      return buildSkill(dir).digest;
    });
    expect(digests[0]).toBe(digests[1]);
  });

  test('shows the errors of the compiler if the source is invalid', async () => {
    const dir = copySource('text/word_stats_c', join(line.folder, 'wrong'));
    writeFileSync(join(dir, 'src/skill.c'), 'int main(void) { return nonsense; }\n');
    const { code, stderr } = await line.run(['build', dir]);
    expect(code).toBe(2);
    expect(stderr).toContain("src/skill.c:1:25: error: use of undeclared identifier 'nonsense'");
    expect(stderr).toContain('fix: Fix the errors that the compiler reports.');
  });

  test('reports what a compiled source lacks to be a skill', () => {
    const dir = copySource('text/word_stats_c', join(line.folder, 'lacking'));
    writeFileSync(join(dir, 'src/skill.c'), 'int not_used;\n');
    expect(() => buildSkill(dir)).toThrow(/is not a skill: it does not export "cabi_realloc", "execute"$/);
  });

  test.each([
    ['text/word_stats_c', 'apt-get install clang lld'],
    ['text/dir_words', 'apt-get install clang lld'],
    ['text/word_stats_go', 'apt-get install golang-go'],
  ])('says what to install if %s has no compiler', async (name, hint) => {
    const dir = copySource(name, join(line.folder, 'bare'));
    const { code, stderr } = await line.run(['build', dir], { env: { PATH: '/nowhere' } });
    expect(code).toBe(6);
    expect(stderr).toContain(`fix: Install it: ${hint}`);
  });

  test('requires exactly one source and lists the supported ones', () => {
    const dir = copySource('text/word_stats_c', join(line.folder, 'two'));
    writeFileSync(join(dir, 'src/main.go'), 'package main\n');
    expect(() => buildSkill(dir)).toThrow('has both "src/skill.c" and "src/main.go"');
    rmSync(join(dir, 'src'), { recursive: true });
    mkdirSync(join(dir, 'src'));
    expect(() => buildSkill(dir)).toThrow('has no source to build');
  });
});

test('the error for a skill that was not built says how to build it', async () => {
  const dir = copySource('text/word_stats_go', join(line.folder, 'unbuilt'));
  const { code, stderr } = await line.run(['run', dir, '--params', '{"text":""}']);
  expect(code).toBe(2);
  expect(stderr).toContain('fix: Run `skillcell build` first');
});
